// The closed list of reasons. Everything that exists per reason is derived from it: the variant that is read
// (core/state/reason_read.hpp), the construction of a reason from a struct (core/state/reason.cpp), and what codecs and
// the API know. The compiler refuses to make a reason from a struct that is not in the list.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "core/state/reasons/changing.hpp"
#include "core/state/reasons/draining.hpp"
#include "core/state/reasons/holding.hpp"
#include "core/state/reasons/provisioning.hpp"
#include "core/state/reasons/waiting.hpp"
#include "core/state/reasons/worker.hpp"

namespace tidepool::core {

template <class... Told>
struct ReasonList {
  static constexpr std::size_t kSize = sizeof...(Told);

  // kSize: it is not in the list.
  template <class R>
  [[nodiscard]] static constexpr std::size_t place_of() {
    constexpr std::array<bool, kSize> kSame{std::is_same_v<R, Told>...};
    std::size_t place = 0;
    while (place < kSize && !kSame[place]) ++place;
    return place;
  }
};

// In the order of the API's list. The first is the reason of a job for which no reason was given yet.
using AllReasons = ReasonList<
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
    reason::Preempted, reason::OverTenantLimit, reason::Resumed, reason::ResumedElsewhere, reason::ResumedByTransfer,
    reason::MovedForType, reason::MovedTogether, reason::MovedForRoom,
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

template <class R>
inline constexpr bool kIsListed = AllReasons::place_of<R>() < AllReasons::kSize;

}  // namespace tidepool::core
