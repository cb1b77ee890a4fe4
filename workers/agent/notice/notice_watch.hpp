// Looks for a notice repeatedly, in a thread of its own, because a command or a metadata service can take time.
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
  // Called on the watch's thread after each look with a result: when the machine is reclaimed, on the steady clock, or
  // none if there is no notice.
  using Tell = std::function<void(std::optional<Instant> at)>;

  // Without a source there is no thread, and `tell` is never called.
  NoticeWatch(NoticeOptions options, Tell tell);

 private:
  void run(const std::stop_token& stop);
  void take(const NoticeLook& look);
  void log_trouble(const std::string& why);

  NoticeOptions options_;
  Tell tell_;
  bool stands_ = false;
  std::string last_trouble_;
  std::jthread thread_;  // the last member: it ends before anything that it uses
};

}  // namespace tidepool::agent
