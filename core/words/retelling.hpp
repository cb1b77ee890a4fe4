// Reasons made of other reasons: what a policy said, as the engine says it of what it does. No decision hangs on them.
#pragma once

#include <cstddef>

#include "core/state/reason.hpp"

namespace tidepool::core {

// Why a job goes from one size to another that its policy asks for: the policy's reason, unless that says why a size is
// held.
[[nodiscard]] Reason reason_of_change(const Reason& wished, int from, int to);
// The same for a job that is to hold nothing.
[[nodiscard]] Reason reason_of_preemption(const Reason& wished);
// The reason of a start: what a policy file has said, unless the start itself has something more to say.
[[nodiscard]] Reason reason_of_start(const Reason& wished, Reason of_start, std::size_t size);
// With another goal, as when slots or price allow less than was asked for.
[[nodiscard]] Reason with_goal(Reason reason, int to);

}  // namespace tidepool::core
