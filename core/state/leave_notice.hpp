// The notice of a worker that must leave: its deadline, and the answers of its program. Only granted time changes when
// the worker is ended (core/facts/nodes/notice_facts.hpp); no other answer does.
#pragma once

#include <cstdint>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

enum class NoticeAnswer {
  kNone,
  kSaving,  // it is saving
  kDone,    // it needs no more time
  kUntil,   // it needs time until then
  kRefuse,  // it does not want to leave
};
[[nodiscard]] const char* to_text(NoticeAnswer answer);

// The notice of the newest decision by which the worker, or only its program, must end. Workers with a notice of one
// decision leave together: time that is granted to one of them applies to all.
struct LeaveNotice {
  DecisionId decision;
  Reason reason;
  Instant due;                                // the deadline first announced
  Instant by;                                 // the deadline with the time granted since
  NoticeAnswer answer = NoticeAnswer::kNone;  // newest
  std::int64_t answers = 0;                   // received so far: the number of the newest
  bool granted = false;                       // the newest was granted as requested
  bool refused = false;                       // the notice was a question, and a refusal of its job was granted
};

}  // namespace tidepool::core
