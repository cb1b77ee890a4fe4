// Makes Gloo's event loop turn more often while an object of this class lives. Gloo waits for a turn each time it
// closes a listening socket or a connection, and an idle turn takes 10 ms: with a thousand peers, connecting and
// closing would take ten seconds each.
#pragma once

#include <gloo/transport/tcp/device.h>

#include <memory>

namespace tidepool::runtime {

class QuickTicks final : private gloo::transport::tcp::Handler {
 public:
  // Does nothing if there are few peers, for which it would cost more than it saves, or if no timer is available.
  QuickTicks(std::shared_ptr<gloo::transport::tcp::Device> device, int peers) noexcept;
  ~QuickTicks() override;
  QuickTicks(const QuickTicks&) = delete;
  QuickTicks& operator=(const QuickTicks&) = delete;

 private:
  void handleEvents(int events) override;

  const std::shared_ptr<gloo::transport::tcp::Device> device_;
  int timer_ = -1;
};

}  // namespace tidepool::runtime
