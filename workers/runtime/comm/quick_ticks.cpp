#include "workers/runtime/comm/quick_ticks.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <utility>

namespace tidepool::runtime {
namespace {

constexpr int kFewPeers = 16;
constexpr long kTickNanos = 200'000;

}  // namespace

QuickTicks::QuickTicks(std::shared_ptr<gloo::transport::tcp::Device> device, int peers) noexcept
    : device_(std::move(device)) {
  if (peers <= kFewPeers) return;
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer_ < 0) return;
  const itimerspec every{.it_interval = {.tv_sec = 0, .tv_nsec = kTickNanos},
                         .it_value = {.tv_sec = 0, .tv_nsec = kTickNanos}};
  try {
    device_->registerDescriptor(timer_, EPOLLIN, this);
    ::timerfd_settime(timer_, 0, &every, nullptr);
  } catch (const std::exception&) {
    ::close(std::exchange(timer_, -1));  // without the timer everything works, but more slowly
  }
}

QuickTicks::~QuickTicks() {
  if (timer_ < 0) return;
  device_->unregisterDescriptor(timer_, this);
  ::close(timer_);
}

void QuickTicks::handleEvents(int) {
  std::uint64_t ticks = 0;
  static_cast<void>(::read(timer_, &ticks, sizeof ticks) == sizeof ticks);
}

}  // namespace tidepool::runtime
