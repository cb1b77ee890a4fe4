// Why a decision was made: one of a closed list of structs (reasons/*.hpp), each with typed fields. A decision stores
// the struct; the sentence is rendered from it (core/words/sentence.hpp), so the CLI, the API, the dashboard and the
// goldens agree.
//
// Rule: reasons are inert. Whoever decides makes, copies and compares them and reads none: what the engine must know
// later is a field of the job. Explanations, codecs and documents read them through reason_read.hpp; the lint test
// refuses that header everywhere else.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "core/state/reasons/changing.hpp"
#include "core/state/reasons/holding.hpp"
#include "core/state/reasons/waiting.hpp"
#include "core/state/reasons/worker.hpp"

namespace tidepool::core {

// In the order of the API's list. The first one is what a job has of which nothing has been said.
using AnyReason = std::variant<
    reason::Measuring,
    // why a job waits, and what a policy file says
    reason::WaitingForSlots, reason::NeverFits, reason::BehindOlderJob, reason::SuspendedByUser, reason::NoNodes,
    reason::WaitsForState, reason::PriceWait, reason::PolicyFailed, reason::MeritWait, reason::DeadlineLost,
    reason::TurnWait, reason::AwaitsPolicy, reason::PolicyWord,
    // why a size is held
    reason::Cooldown, reason::MinRuntime, reason::EndsSoon, reason::TransitionInProgress, reason::FixedSize,
    reason::PinnedByUser, reason::EfficiencySettled, reason::UtilitySettled, reason::AtMax, reason::AtMin,
    reason::NoSlotsToGrow, reason::PriceCap, reason::BatchTooSmall, reason::NoMeasurements, reason::TransitionTooDear,
    reason::StragglerWatched, reason::StragglerInData, reason::StragglerEased, reason::PriceHold, reason::Unclaimed,
    reason::MeritHold, reason::NoRoomTogether, reason::TurnHold,
    // why a job starts, grows, shrinks, is replaced
    reason::Started, reason::ExploreUp, reason::ExploreDown, reason::EfficientUp, reason::InefficientDown,
    reason::UtilityUp, reason::UtilityDown, reason::GatherEvidence, reason::PriceGrow, reason::PriceShrink,
    reason::MeritGrow, reason::MeritShrink, reason::ResizedByUser, reason::BackToSize, reason::StragglerRebalanced,
    reason::SharesRegained, reason::StragglerReplaced, reason::StragglerShrunk, reason::StragglerNoSpare,
    reason::WorkerLost, reason::ProgramFailed, reason::BelowMinimum, reason::StartTimeout, reason::LeftBehind,
    reason::WorkerStuck, reason::SwitchTimeout, reason::ParkTimeout, reason::Preempted, reason::Resumed,
    reason::ResumedElsewhere, reason::MovedForType,
    // why a job ended
    reason::Finished, reason::CancelledByUser, reason::WorkersFailed, reason::MaxDuration>;

// A struct of reasons/*.hpp.
template <class R>
concept ToldReason = requires { R::kTraits.category; };

// Copies and comparisons are in reason.cpp, so that they are compiled once.
class Reason {
 public:
  Reason();
  template <ToldReason R>
  Reason(R told) : any_(std::in_place_type<R>, std::move(told)) {}  // NOLINT(google-explicit-constructor)
  Reason(const Reason& other);
  Reason(Reason&& other) noexcept;
  Reason& operator=(const Reason& other);
  Reason& operator=(Reason&& other) noexcept;
  ~Reason();

  bool operator==(const Reason& other) const;

 private:
  friend struct ReasonAccess;  // reason_read.hpp
  AnyReason any_;
};

// Both say the same thing, with other measurements perhaps: the same struct, and of its fields those are equal that
// name a goal, a worker or a turn, and the word or measure.
[[nodiscard]] bool says_the_same(const Reason& one, const Reason& other);

}  // namespace tidepool::core
