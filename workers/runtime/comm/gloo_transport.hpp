// A Gloo transport whose every wait can be broken from another thread. Gloo 2022 wakes the operations
// that a failed connection still knows, but an operation that it had already taken off its lists when
// the peer died is forgotten, and its wait lasts until the timeout. Here no wait outlives abort().
//
// Gloo's algorithms make all their buffers through the transport context, so that is what we wrap.
#pragma once

#include <gloo/transport/context.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/comm/quick_ticks.hpp"

namespace tidepool::runtime {

class BreakableTransport final : public gloo::transport::Context {
 public:
  BreakableTransport(std::shared_ptr<gloo::transport::Context> inner,
                     std::shared_ptr<gloo::transport::tcp::Device> device);
  ~BreakableTransport() override;
  BreakableTransport(const BreakableTransport&) = delete;
  BreakableTransport& operator=(const BreakableTransport&) = delete;

  // While it lives, connections are let go of more quickly.
  [[nodiscard]] std::unique_ptr<QuickTicks> quicken() const { return std::make_unique<QuickTicks>(device_, size); }

  // For connections that are made from now on.
  void set_connect_timeout(Millis timeout);

  // Call once connected: from then on the loss of any one connection aborts all, so that a rank that
  // does not talk to the dead one at that moment learns of it too.
  void watch_connections();

  // Closes all connections and ends all waits, now and later, with an exception. Any thread.
  void abort() noexcept;
  [[nodiscard]] bool aborted() const { return aborted_; }

  std::unique_ptr<gloo::transport::Pair>& getPair(int peer) override { return inner_->getPair(peer); }
  std::unique_ptr<gloo::transport::Pair>& createPair(int peer) override { return inner_->createPair(peer); }
  std::unique_ptr<gloo::transport::UnboundBuffer> createUnboundBuffer(void* memory, std::size_t bytes) override;

 private:
  class Buffer;

  std::shared_ptr<gloo::transport::Context> inner_;
  std::shared_ptr<gloo::transport::tcp::Device> device_;  // of `inner_`
  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::set<gloo::transport::UnboundBuffer*> live_;  // Gloo's own buffers behind ours
  char canary_byte_ = 0;
  std::unique_ptr<gloo::transport::UnboundBuffer> canary_;  // waits for a message that no rank sends
  std::thread watcher_;
};

}  // namespace tidepool::runtime
