// Lets Gloo's loop turn more often while one of these lives. Gloo waits for a turn each time it lets go of a listening
// socket or a connection, and where nothing comes a turn takes 10 ms: with a thousand peers connecting and closing
// would take ten seconds each.
#pragma once

#include <gloo/transport/tcp/device.h>

#include <memory>

namespace tidepool::runtime {

class QuickTicks final : private gloo::transport::tcp::Handler {
 public:
  // Does nothing for few peers, for which it would cost more than it saves, or where no timer is to be had.
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
