#include "core/state/reason.hpp"

#include <algorithm>
#include <array>

namespace tidepool::core {
namespace {

// What is known of a code, in the order of the enum. Goals: the numbers that are part of a reason's identity.
struct Traits {
  ReasonCode code;
  std::string_view name;
  ReasonCategory category;
  std::array<std::string_view, 2> goals = {};
};

constexpr std::array kTraits = {
    Traits{ReasonCode::kWaitingForSlots, "WaitingForSlots", ReasonCategory::kWaiting, {"looks"}},
    Traits{ReasonCode::kNeverFits, "NeverFits", ReasonCategory::kWaiting},
    Traits{ReasonCode::kBehindOlderJob, "BehindOlderJob", ReasonCategory::kWaiting},
    Traits{ReasonCode::kSuspendedByUser, "SuspendedByUser", ReasonCategory::kWaiting},
    Traits{ReasonCode::kNoNodes, "NoNodes", ReasonCategory::kWaiting},
    Traits{ReasonCode::kWaitsForState, "WaitsForState", ReasonCategory::kWaiting},
    Traits{ReasonCode::kPriceWait, "PriceWait", ReasonCategory::kWaiting},
    Traits{ReasonCode::kPolicyFailed, "PolicyFailed", ReasonCategory::kWaiting},
    Traits{ReasonCode::kMeritWait, "MeritWait", ReasonCategory::kWaiting},
    Traits{ReasonCode::kDeadlineLost, "DeadlineLost", ReasonCategory::kWaiting},
    Traits{ReasonCode::kTurnWait, "TurnWait", ReasonCategory::kWaiting},
    Traits{ReasonCode::kAwaitsPolicy, "AwaitsPolicy", ReasonCategory::kPolicy, {"size"}},
    Traits{ReasonCode::kPolicyWord, "PolicyWord", ReasonCategory::kPolicy, {"to"}},
    Traits{ReasonCode::kMeasuring, "Measuring", ReasonCategory::kHolding, {"of"}},
    Traits{ReasonCode::kCooldown, "Cooldown", ReasonCategory::kHolding},
    Traits{ReasonCode::kMinRuntime, "MinRuntime", ReasonCategory::kHolding},
    Traits{ReasonCode::kEndsSoon, "EndsSoon", ReasonCategory::kHolding},
    Traits{ReasonCode::kTransitionInProgress, "TransitionInProgress", ReasonCategory::kHolding, {"to"}},
    Traits{ReasonCode::kFixedSize, "FixedSize", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kPinnedByUser, "PinnedByUser", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kEfficiencySettled, "EfficiencySettled", ReasonCategory::kHolding, {"size", "next"}},
    Traits{ReasonCode::kUtilitySettled, "UtilitySettled", ReasonCategory::kHolding, {"size", "next"}},
    Traits{ReasonCode::kAtMax, "AtMax", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kAtMin, "AtMin", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kNoSlotsToGrow, "NoSlotsToGrow", ReasonCategory::kHolding},
    Traits{ReasonCode::kPriceCap, "PriceCap", ReasonCategory::kHolding},
    Traits{ReasonCode::kBatchTooSmall, "BatchTooSmall", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kNoMeasurements, "NoMeasurements", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kTransitionTooDear, "TransitionTooDear", ReasonCategory::kHolding, {"to"}},
    Traits{ReasonCode::kStragglerWatched, "StragglerWatched", ReasonCategory::kHolding, {"worker"}},
    Traits{ReasonCode::kStragglerInData, "StragglerInData", ReasonCategory::kHolding, {"worker"}},
    Traits{ReasonCode::kStragglerEased, "StragglerEased", ReasonCategory::kHolding, {"worker"}},
    Traits{ReasonCode::kPriceHold, "PriceHold", ReasonCategory::kHolding, {"size", "next"}},
    Traits{ReasonCode::kUnclaimed, "Unclaimed", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kMeritHold, "MeritHold", ReasonCategory::kHolding, {"size", "next"}},
    Traits{ReasonCode::kNoRoomTogether, "NoRoomTogether", ReasonCategory::kHolding, {"size", "next"}},
    Traits{ReasonCode::kTurnHold, "TurnHold", ReasonCategory::kHolding, {"size"}},
    Traits{ReasonCode::kStarted, "Started", ReasonCategory::kChanging, {"size"}},
    Traits{ReasonCode::kExploreUp, "ExploreUp", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kExploreDown, "ExploreDown", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kEfficientUp, "EfficientUp", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kInefficientDown, "InefficientDown", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kUtilityUp, "UtilityUp", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kUtilityDown, "UtilityDown", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kGatherEvidence, "GatherEvidence", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kPriceGrow, "PriceGrow", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kPriceShrink, "PriceShrink", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kMeritGrow, "MeritGrow", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kMeritShrink, "MeritShrink", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kResizedByUser, "ResizedByUser", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kBackToSize, "BackToSize", ReasonCategory::kChanging, {"to"}},
    Traits{ReasonCode::kStragglerRebalanced, "StragglerRebalanced", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kSharesRegained, "SharesRegained", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kStragglerReplaced, "StragglerReplaced", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kStragglerShrunk, "StragglerShrunk", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kStragglerNoSpare, "StragglerNoSpare", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kWorkerLost, "WorkerLost", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kProgramFailed, "ProgramFailed", ReasonCategory::kWorker, {"worker", "size"}},
    Traits{ReasonCode::kBelowMinimum, "BelowMinimum", ReasonCategory::kWorker},
    Traits{ReasonCode::kStartTimeout, "StartTimeout", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kLeftBehind, "LeftBehind", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kWorkerStuck, "WorkerStuck", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kSwitchTimeout, "SwitchTimeout", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kParkTimeout, "ParkTimeout", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kPreempted, "Preempted", ReasonCategory::kWorker},
    Traits{ReasonCode::kResumed, "Resumed", ReasonCategory::kChanging, {"size"}},
    Traits{ReasonCode::kResumedElsewhere, "ResumedElsewhere", ReasonCategory::kChanging, {"size"}},
    Traits{ReasonCode::kMovedForType, "MovedForType", ReasonCategory::kWorker, {"worker"}},
    Traits{ReasonCode::kFinished, "Finished", ReasonCategory::kEnding},
    Traits{ReasonCode::kCancelledByUser, "CancelledByUser", ReasonCategory::kEnding},
    Traits{ReasonCode::kWorkersFailed, "WorkersFailed", ReasonCategory::kEnding},
    Traits{ReasonCode::kMaxDuration, "MaxDuration", ReasonCategory::kEnding},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTraits.size(); ++i) {
    if (static_cast<std::size_t>(kTraits[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "a code finds its traits by its place in the enum");

const Traits& traits_of(ReasonCode code) {
  return kTraits[static_cast<std::size_t>(code)];
}

bool is_goal(const Traits& traits, std::string_view name) {
  return name == traits.goals[0] || name == traits.goals[1];
}

// The same numbers in the same order, but for values of which none is a goal. Nearly all reasons of a job that is told
// the same again are like that, and only then no name has to be looked up.
bool differ_in_measurements_only(const Reason& one, const Reason& other) {
  const Traits& traits = traits_of(one.code);
  return std::equal(one.numbers.begin(), one.numbers.end(), other.numbers.begin(), other.numbers.end(),
                    [&](const ReasonNumber& a, const ReasonNumber& b) {
                      return a.name == b.name && (a.value == b.value || !is_goal(traits, a.name));
                    });
}

}  // namespace

bool Reason::operator==(const Reason& other) const {
  return code == other.code && word == other.word &&
         std::is_permutation(numbers.begin(), numbers.end(), other.numbers.begin(), other.numbers.end());
}

ReasonCategory category_of(ReasonCode code) {
  return traits_of(code).category;
}

bool speaks_of_straggler(ReasonCode code) {
  return code == ReasonCode::kStragglerWatched || code == ReasonCode::kStragglerInData ||
         code == ReasonCode::kStragglerReplaced || code == ReasonCode::kStragglerShrunk ||
         code == ReasonCode::kStragglerNoSpare || code == ReasonCode::kStragglerEased ||
         code == ReasonCode::kStragglerRebalanced;
}

bool says_the_same(const Reason& one, const Reason& other) {
  if (one.code != other.code || one.word != other.word) return false;
  if (differ_in_measurements_only(one, other)) return true;
  const auto& goals = traits_of(one.code).goals;
  return std::all_of(goals.begin(), goals.end(),
                     [&](std::string_view goal) { return goal.empty() || one.number(goal) == other.number(goal); });
}

std::string_view to_text(ReasonCode code) {
  return traits_of(code).name;
}

bool parse_reason_code(std::string_view text, ReasonCode& code) {
  const auto* found =
      std::find_if(kTraits.begin(), kTraits.end(), [&](const Traits& each) { return each.name == text; });
  if (found == kTraits.end()) return false;
  code = found->code;
  return true;
}

}  // namespace tidepool::core
