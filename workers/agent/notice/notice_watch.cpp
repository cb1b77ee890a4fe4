#include "workers/agent/notice/notice_watch.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "workers/agent/notice/notice_text.hpp"
#include "workers/agent/system/monotonic.hpp"

namespace tidepool::agent {
namespace {

Instant wall_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return Instant::from_micros(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace

NoticeWatch::NoticeWatch(NoticeOptions options, Tell tell) : options_(std::move(options)), tell_(std::move(tell)) {
  if (options_.source == NoticeOptions::Source::kNone) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void NoticeWatch::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wakes;
  while (!stop.stop_requested()) {
    const NoticeLook look = look_for_notice(options_, [&] { return stop.stop_requested(); });
    if (stop.stop_requested()) return;
    take(look);
    std::unique_lock lock(mutex);
    wakes.wait_for(lock, stop, std::chrono::microseconds(options_.period.count_us()), [] { return false; });
  }
}

void NoticeWatch::take(const NoticeLook& look) {
  if (look.seen == NoticeLook::Seen::kUnknown) return log_trouble("cannot see whether there is a notice: " + look.text);
  const bool stands = look.seen == NoticeLook::Seen::kNotice;
  if (!stands) {
    if (std::exchange(stands_, false)) spdlog::info("the notice was withdrawn: this machine is not reclaimed");
    last_trouble_.clear();
    return tell_(std::nullopt);
  }
  const Instant now = wall_now();
  const NoticeEnd end = read_notice(look.text, look.since.value_or(now), options_.lead);
  if (!end.understood) {
    log_trouble("the notice names no time that is understood; " + to_text(options_.lead) + " are left");
  } else {
    last_trouble_.clear();
  }
  if (!std::exchange(stands_, true)) {
    spdlog::warn("this machine will be reclaimed in {:.0f} s", std::max(0.0, (end.at - now).to_seconds()));
  }
  tell_(monotonic_now() + (end.at - now));
}

// Logged once, not at every look.
void NoticeWatch::log_trouble(const std::string& why) {
  if (std::exchange(last_trouble_, why) != why) spdlog::warn("{}", why);
}

}  // namespace tidepool::agent
