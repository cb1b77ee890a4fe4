// Reads a reason. Only for what explains, renders or stores one: the lint test refuses this header to code that decides
// (READS_REASONS in tests/lint/lint.py).
#pragma once

#include <new>
#include <utility>
#include <variant>

#include "core/state/reason.hpp"

namespace tidepool::core {

// In the order of the API's list. The first one is what a job has of which nothing has been said.
using AnyReason = std::variant<
    reason::Measuring,
    // why a job waits, and what a policy file says
    reason::WaitingForSlots, reason::PreemptsLater, reason::PreemptionLimit, reason::PreemptionRefused,
    reason::NodesBeingCleared, reason::NeverFits, reason::NoNodeMatches, reason::WaitingForNodes,
    reason::DomainsTooSmall, reason::WaitingForDomains, reason::BeyondGuarantee, reason::BudgetSpent,
    reason::BehindOlderJob, reason::SuspendedByUser, reason::NoNodes, reason::WaitsForState, reason::PriceWait,
    reason::PolicyFailed, reason::MeritWait, reason::DeadlineLost, reason::TurnWait, reason::AwaitsPolicy,
    reason::PolicyWord,
    // why a size is held
    reason::Cooldown, reason::MinRuntime, reason::EndsSoon, reason::PreemptedOften, reason::AskedToLeave,
    reason::RefusesToLeave, reason::TransitionInProgress, reason::FixedSize, reason::PinnedByUser,
    reason::EfficiencySettled, reason::UtilitySettled, reason::AtMax, reason::AtMin, reason::NoSlotsToGrow,
    reason::PriceCap, reason::BatchTooSmall, reason::NoMeasurements, reason::TransitionTooDear,
    reason::StragglerWatched, reason::StragglerInData, reason::StragglerEased, reason::PriceHold, reason::Unclaimed,
    reason::MeritHold, reason::NoRoomTogether, reason::NoRoomByRules, reason::TurnHold, reason::ShareHold,
    // why a job starts, grows, shrinks, is replaced
    reason::Started, reason::ExploreUp, reason::ExploreDown, reason::EfficientUp, reason::InefficientDown,
    reason::UtilityUp, reason::UtilityDown, reason::GatherEvidence, reason::PriceGrow, reason::PriceShrink,
    reason::MeritGrow, reason::MeritShrink, reason::BudgetShrunk, reason::ResizedByUser, reason::BackToSize,
    reason::StragglerRebalanced, reason::SharesRegained, reason::StragglerReplaced, reason::StragglerShrunk,
    reason::StragglerNoSpare, reason::WorkerLost, reason::ProgramFailed, reason::BelowMinimum, reason::StartTimeout,
    reason::LeftBehind, reason::WorkerStuck, reason::SwitchTimeout, reason::ParkTimeout, reason::EndTimeout,
    reason::Preempted, reason::Resumed, reason::ResumedElsewhere, reason::ResumedByTransfer, reason::MovedForType,
    reason::MovedTogether, reason::MovedForRoom,
    // a node is being drained
    reason::DrainMove, reason::DrainShrink, reason::DrainGrow, reason::DrainSuspend, reason::DrainHold,
    reason::DrainStop, reason::NodesDrain, reason::NodesUnsteady,
    // why a node comes or goes
    reason::NodeForGang, reason::NodeForGrowth, reason::NodeForMinimum, reason::NodeForPolicy, reason::NodeBeyondPolicy,
    reason::NodeIdle, reason::NodeNotWorth, reason::NodeEmptied, reason::NodeNeverJoined, reason::NodeAway,
    reason::NodeLifetimeEnds, reason::NodeSurplus,
    // why a job ended
    reason::Finished, reason::CancelledByUser, reason::BudgetStopped, reason::WorkersFailed, reason::Finishing,
    reason::FailedAtEnd, reason::FinishTimeout, reason::MaxDuration>;

struct ReasonAccess {
  static_assert(sizeof(AnyReason) <= Reason::kBytes && alignof(AnyReason) <= alignof(Reason),
                "a reason has room for any");
  [[nodiscard]] static void* place(Reason& reason) { return reason.any_.data(); }
  [[nodiscard]] static const AnyReason& of(const Reason& reason) {
    return *std::launder(reinterpret_cast<const AnyReason*>(reason.any_.data()));
  }
  [[nodiscard]] static AnyReason& of(Reason& reason) {
    return *std::launder(reinterpret_cast<AnyReason*>(reason.any_.data()));
  }
};

// Calls `visit` with the reason's struct; `reason` may be const.
decltype(auto) visit_reason(auto&& visit, auto& reason) {
  return std::visit(visit, ReasonAccess::of(reason));
}

// Null if it is another struct.
template <ToldReason R>
[[nodiscard]] const R* reason_as(const Reason& reason) {
  return std::get_if<R>(&ReasonAccess::of(reason));
}
template <ToldReason... R>
[[nodiscard]] bool is_any_of(const Reason& reason) {
  return ((reason_as<R>(reason) != nullptr) || ...);
}

[[nodiscard]] const reason::Traits& traits_of(const Reason& reason);
// The same struct, whatever its fields.
[[nodiscard]] bool same_kind(const Reason& one, const Reason& other);

}  // namespace tidepool::core
