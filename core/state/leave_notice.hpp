// The notice of a worker that has to leave: by when, and what its program has answered. Only time that was granted
// changes when it is ended (core/facts/nodes/notice_facts.hpp); no other answer does.
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
  bool refused = false;                       // it was a question, and a refusal of its job was granted
};

}  // namespace tidepool::core
