// A worker that is told to leave is told by when, and its program may answer. What it is granted moves the time at
// which it is ended (core/facts/nodes/notice_facts.hpp); nothing else that it says does.
#pragma once

#include <cstdint>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

enum class NoticeAnswer {
  kNone,
  kSaving,  // it is at it
  kDone,    // it needs no more time
  kUntil,   // it needs until then
  kRefuse,  // it does not want to leave
};
[[nodiscard]] const char* to_text(NoticeAnswer answer);

// Of the newest decision by which the worker, or only its program, has to end. Workers with a notice of one decision
// leave together: what one of them is granted holds for all.
struct LeaveNotice {
  DecisionId decision;
  Reason reason;
  Instant due;                                // by then, as it was first told
  Instant by;                                 // by then, with what was granted since
  NoticeAnswer answer = NoticeAnswer::kNone;  // newest
  std::int64_t answers = 0;                   // heard so far: the number of the newest
  bool granted = false;                       // the newest was granted as it was asked
};

}  // namespace tidepool::core
