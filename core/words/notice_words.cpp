#include "core/words/notice_words.hpp"

#include "base/calendar.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {

std::string clock_text(const ClusterState& state, Instant at) {
  return utc_clock_text(utc_us(state, at) / 1'000'000);
}

std::string answer_text(const ClusterState& state, const Worker& worker) {
  const LeaveNotice& notice = *worker.notice;
  const std::string until = "until " + clock_text(state, notice.by);
  const std::string name = worker.id.text();
  switch (notice.answer) {
    case NoticeAnswer::kNone: break;
    case NoticeAnswer::kSaving: return name + " is saving; it has " + until;
    case NoticeAnswer::kDone: return name + " needs no more time";
    case NoticeAnswer::kUntil:
      return notice.granted ? name + " is saving, " + until + " granted"
                            : name + " asked for more time than it may have; it has " + until;
    case NoticeAnswer::kRefuse:
      if (notice.granted) return name + " refuses to leave, which is granted";
      return name + " refuses to leave, which is denied; it has " + until;
  }
  return name + " has " + until + " to leave";
}

}  // namespace tidepool::core
