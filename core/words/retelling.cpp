#include "core/words/retelling.hpp"

namespace tidepool::core {
namespace {

// +1: of jobs that grow, -1: that shrink, 0: the code says no direction.
int direction_of(ReasonCode code) {
  switch (code) {
    case ReasonCode::kExploreUp:
    case ReasonCode::kEfficientUp:
    case ReasonCode::kUtilityUp:
    case ReasonCode::kPriceGrow:
    case ReasonCode::kMeritGrow: return 1;
    case ReasonCode::kExploreDown:
    case ReasonCode::kInefficientDown:
    case ReasonCode::kUtilityDown:
    case ReasonCode::kPriceShrink:
    case ReasonCode::kMeritShrink: return -1;
    default: return 0;
  }
}

bool tells_sizes(const Reason& reason) {
  return reason.number("from", -1) >= 0 && reason.number("to", -1) >= 0;
}

Reason with_sizes(Reason reason, int from, int to) {
  for (ReasonNumber& number : reason.numbers) {
    if (number.name == "from") number.value = from;
    if (number.name == "to") number.value = to;
  }
  return reason;
}

}  // namespace

Reason reason_of_change(const Reason& wished, int from, int to) {
  const int direction = direction_of(wished.code);
  const bool fits = direction == 0 || (direction > 0) == (to > from);
  const ReasonCategory category = category_of(wished.code);
  const bool of_change = category == ReasonCategory::kChanging || category == ReasonCategory::kPolicy;
  if (of_change && fits && tells_sizes(wished)) return with_sizes(wished, from, to);
  return {ReasonCode::kBackToSize, {{"from", static_cast<double>(from)}, {"to", static_cast<double>(to)}}};
}

Reason reason_of_preemption(const Reason& wished) {
  if (category_of(wished.code) != ReasonCategory::kHolding) return wished;
  return {ReasonCode::kPreempted, {{"for_job", 0}}};
}

Reason reason_of_start(const Reason& wished, Reason of_start, int size) {
  if (wished.code != ReasonCode::kPolicyWord || of_start.code == ReasonCode::kResumedElsewhere) return of_start;
  return with_sizes(wished, 0, size);
}

}  // namespace tidepool::core
