// Reasons made of other reasons: what a policy said, as the engine says it of what it does. No decision hangs on them.
#pragma once

#include "core/state/reason.hpp"

namespace tidepool::core {

// Why a job goes from one size to another that its policy asks for: the policy's reason with these sizes, if it is one
// of such a change. Plans are carried out later, and in part: then the policy's words are of another change.
[[nodiscard]] Reason reason_of_change(const Reason& wished, int from, int to);
// Why a job is to hold nothing.
[[nodiscard]] Reason reason_of_preemption(const Reason& wished);
// Why a job starts with so many workers: what a policy file has said, unless the start itself has something more to
// say.
[[nodiscard]] Reason reason_of_start(const Reason& wished, Reason of_start, int size);

}  // namespace tidepool::core
