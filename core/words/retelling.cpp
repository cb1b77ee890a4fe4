#include "core/words/retelling.hpp"

namespace tidepool::core {

Reason reason_of_change(const Reason& wished, int from, int to) {
  if (category_of(wished.code) != ReasonCategory::kHolding) return wished;
  return {ReasonCode::kBackToSize, {{"from", static_cast<double>(from)}, {"to", static_cast<double>(to)}}};
}

Reason reason_of_preemption(const Reason& wished) {
  if (category_of(wished.code) != ReasonCategory::kHolding) return wished;
  return {ReasonCode::kPreempted, {{"for_job", 0}}};
}

Reason reason_of_start(const Reason& wished, Reason of_start, std::size_t size) {
  if (wished.code != ReasonCode::kPolicyWord || of_start.code == ReasonCode::kResumedElsewhere) return of_start;
  return with_goal(wished, static_cast<int>(size));
}

Reason with_goal(Reason reason, int to) {
  for (ReasonNumber& number : reason.numbers) {
    if (number.name == "to") number.value = to;
  }
  return reason;
}

}  // namespace tidepool::core
