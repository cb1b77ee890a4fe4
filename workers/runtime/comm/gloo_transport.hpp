// A Gloo transport in which another thread can end every wait. Gloo 2022 wakes the operations that a failed connection
// still lists, but it forgets an operation that was already off the lists when the peer died, and that wait lasts until
// the timeout. Here no wait outlives abort().
//
// Gloo's algorithms create all their buffers through the transport context, so this class wraps that context.
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

  // While the returned object lives, Gloo closes connections faster.
  [[nodiscard]] std::unique_ptr<QuickTicks> quicken() const { return std::make_unique<QuickTicks>(device_, size); }

  // Applies to connections that are made later.
  void set_connect_timeout(Millis timeout);

  // Call once connected: from then on the loss of any connection aborts all, so that a rank which is not communicating
  // with the dead one at that moment also notices.
  void watch_connections();

  // Closes all connections and ends all present and later waits with an exception. Any thread.
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
  std::set<gloo::transport::UnboundBuffer*> live_;  // Gloo's own buffers, which the wrappers use
  char canary_byte_ = 0;
  std::unique_ptr<gloo::transport::UnboundBuffer> canary_;  // waits for a message that no rank sends
  std::thread watcher_;
};

}  // namespace tidepool::runtime
