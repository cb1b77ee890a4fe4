#include "core/state/reason.hpp"

#include <algorithm>
#include <array>

namespace tidepool::core {
namespace {

struct CodeName {
  ReasonCode code;
  std::string_view name;
};

constexpr std::array kNames = {
    CodeName{ReasonCode::kWaitingForSlots, "WaitingForSlots"},
    CodeName{ReasonCode::kNeverFits, "NeverFits"},
    CodeName{ReasonCode::kBehindOlderJob, "BehindOlderJob"},
    CodeName{ReasonCode::kSuspendedByUser, "SuspendedByUser"},
    CodeName{ReasonCode::kNoNodes, "NoNodes"},
    CodeName{ReasonCode::kWaitsForState, "WaitsForState"},
    CodeName{ReasonCode::kPriceWait, "PriceWait"},
    CodeName{ReasonCode::kPolicyFailed, "PolicyFailed"},
    CodeName{ReasonCode::kMeritWait, "MeritWait"},
    CodeName{ReasonCode::kDeadlineLost, "DeadlineLost"},
    CodeName{ReasonCode::kTurnWait, "TurnWait"},
    CodeName{ReasonCode::kAwaitsPolicy, "AwaitsPolicy"},
    CodeName{ReasonCode::kPolicyWord, "PolicyWord"},
    CodeName{ReasonCode::kMeasuring, "Measuring"},
    CodeName{ReasonCode::kCooldown, "Cooldown"},
    CodeName{ReasonCode::kMinRuntime, "MinRuntime"},
    CodeName{ReasonCode::kEndsSoon, "EndsSoon"},
    CodeName{ReasonCode::kTransitionInProgress, "TransitionInProgress"},
    CodeName{ReasonCode::kFixedSize, "FixedSize"},
    CodeName{ReasonCode::kPinnedByUser, "PinnedByUser"},
    CodeName{ReasonCode::kEfficiencySettled, "EfficiencySettled"},
    CodeName{ReasonCode::kUtilitySettled, "UtilitySettled"},
    CodeName{ReasonCode::kAtMax, "AtMax"},
    CodeName{ReasonCode::kAtMin, "AtMin"},
    CodeName{ReasonCode::kNoSlotsToGrow, "NoSlotsToGrow"},
    CodeName{ReasonCode::kPriceCap, "PriceCap"},
    CodeName{ReasonCode::kBatchTooSmall, "BatchTooSmall"},
    CodeName{ReasonCode::kNoMeasurements, "NoMeasurements"},
    CodeName{ReasonCode::kTransitionTooDear, "TransitionTooDear"},
    CodeName{ReasonCode::kPriceHold, "PriceHold"},
    CodeName{ReasonCode::kUnclaimed, "Unclaimed"},
    CodeName{ReasonCode::kMeritHold, "MeritHold"},
    CodeName{ReasonCode::kNoRoomTogether, "NoRoomTogether"},
    CodeName{ReasonCode::kTurnHold, "TurnHold"},
    CodeName{ReasonCode::kPriceGrow, "PriceGrow"},
    CodeName{ReasonCode::kPriceShrink, "PriceShrink"},
    CodeName{ReasonCode::kMeritGrow, "MeritGrow"},
    CodeName{ReasonCode::kMeritShrink, "MeritShrink"},
    CodeName{ReasonCode::kStarted, "Started"},
    CodeName{ReasonCode::kExploreUp, "ExploreUp"},
    CodeName{ReasonCode::kExploreDown, "ExploreDown"},
    CodeName{ReasonCode::kEfficientUp, "EfficientUp"},
    CodeName{ReasonCode::kInefficientDown, "InefficientDown"},
    CodeName{ReasonCode::kUtilityUp, "UtilityUp"},
    CodeName{ReasonCode::kUtilityDown, "UtilityDown"},
    CodeName{ReasonCode::kGatherEvidence, "GatherEvidence"},
    CodeName{ReasonCode::kResizedByUser, "ResizedByUser"},
    CodeName{ReasonCode::kBackToSize, "BackToSize"},
    CodeName{ReasonCode::kStragglerRebalanced, "StragglerRebalanced"},
    CodeName{ReasonCode::kSharesRegained, "SharesRegained"},
    CodeName{ReasonCode::kStragglerEased, "StragglerEased"},
    CodeName{ReasonCode::kStragglerReplaced, "StragglerReplaced"},
    CodeName{ReasonCode::kStragglerShrunk, "StragglerShrunk"},
    CodeName{ReasonCode::kStragglerWatched, "StragglerWatched"},
    CodeName{ReasonCode::kStragglerInData, "StragglerInData"},
    CodeName{ReasonCode::kStragglerNoSpare, "StragglerNoSpare"},
    CodeName{ReasonCode::kWorkerLost, "WorkerLost"},
    CodeName{ReasonCode::kProgramFailed, "ProgramFailed"},
    CodeName{ReasonCode::kBelowMinimum, "BelowMinimum"},
    CodeName{ReasonCode::kStartTimeout, "StartTimeout"},
    CodeName{ReasonCode::kLeftBehind, "LeftBehind"},
    CodeName{ReasonCode::kWorkerStuck, "WorkerStuck"},
    CodeName{ReasonCode::kSwitchTimeout, "SwitchTimeout"},
    CodeName{ReasonCode::kParkTimeout, "ParkTimeout"},
    CodeName{ReasonCode::kPreempted, "Preempted"},
    CodeName{ReasonCode::kResumed, "Resumed"},
    CodeName{ReasonCode::kResumedElsewhere, "ResumedElsewhere"},
    CodeName{ReasonCode::kMovedForType, "MovedForType"},
    CodeName{ReasonCode::kFinished, "Finished"},
    CodeName{ReasonCode::kCancelledByUser, "CancelledByUser"},
    CodeName{ReasonCode::kWorkersFailed, "WorkersFailed"},
    CodeName{ReasonCode::kMaxDuration, "MaxDuration"},
};

}  // namespace

bool Reason::operator==(const Reason& other) const {
  return code == other.code && word == other.word &&
         std::is_permutation(numbers.begin(), numbers.end(), other.numbers.begin(), other.numbers.end());
}

std::string_view to_text(ReasonCode code) {
  for (const auto& entry : kNames) {
    if (entry.code == code) return entry.name;
  }
  return "Unknown";
}

bool parse_reason_code(std::string_view text, ReasonCode& code) {
  for (const auto& entry : kNames) {
    if (entry.name != text) continue;
    code = entry.code;
    return true;
  }
  return false;
}

}  // namespace tidepool::core
