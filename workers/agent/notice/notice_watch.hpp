// Looks for a notice again and again, in a thread of its own, because a command or a metadata service is waited for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/time.hpp"
#include "workers/agent/notice/notice_source.hpp"

namespace tidepool::agent {

class NoticeWatch {
 public:
  // Called on the watch's thread after each look that has an answer: when the machine is taken back, on the steady
  // clock, or none if no notice stands.
  using Tell = std::function<void(std::optional<Instant> at)>;

  // Without a source there is no thread, and nothing is told.
  NoticeWatch(NoticeOptions options, Tell tell);

 private:
  void run(const std::stop_token& stop);
  void take(const NoticeLook& look);
  void say_trouble(const std::string& why);

  NoticeOptions options_;
  Tell tell_;
  bool stands_ = false;
  std::string last_trouble_;
  std::jthread thread_;  // the last member: it ends before anything that it uses
};

}  // namespace tidepool::agent
