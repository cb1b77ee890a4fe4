#include "core/state/reason.hpp"

#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/state/reason_read.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kIdentityMost = 4;

// The numbers by which a reason is news, in the order of its fields.
class Identity {
 public:
  template <class T>
  constexpr void operator()(const char*, const T& value, unsigned use = reason::kPlain) {
    if constexpr (requires { T::fields(value, *this); }) {
      T::fields(value, *this);
    } else if ((use & reason::kIdentity) != 0) {
      values_[count_++] = number(value);
    }
  }
  template <class T>
  constexpr void operator()(const char* name, const std::optional<T>& value, unsigned use = reason::kPlain) {
    if constexpr (requires(T& inner) { T::fields(inner, *this); }) {
      (*this)(name, value.value_or(T{}), use);
    } else if ((use & reason::kIdentity) != 0) {
      values_[count_++] = value ? number(*value) : 0;
    }
  }
  constexpr void operator()(const char*, const reason::Judgement& by, unsigned = reason::kPlain) {
    if (const auto* merit = std::get_if<reason::ByMerit>(&by)) measure_ = merit->measure;
    if (const auto* turn = std::get_if<reason::ByTurn>(&by)) measure_ = turn->measure;
    if (std::holds_alternative<reason::ByPromise>(by)) measure_ = Measure::kPromise;
  }
  bool operator==(const Identity&) const = default;

 private:
  template <class T>
  static constexpr std::int64_t number(T value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<std::int64_t>(value);
    } else if constexpr (requires { value.number(); }) {
      return static_cast<std::int64_t>(value.number());
    } else {
      return 0;
    }
  }

  std::array<std::int64_t, kIdentityMost> values_{};
  std::size_t count_ = 0;
  Measure measure_ = Measure::kOwn;
};

template <class R>
Identity identity_of(const R& told) {
  Identity identity;
  R::fields(told, identity);
  return identity;
}

}  // namespace

Reason::Reason() : Reason(reason::Measuring{}) {}
template <ToldReason R>
Reason::Reason(R told) {
  std::construct_at(static_cast<AnyReason*>(ReasonAccess::place(*this)), std::in_place_type<R>, std::move(told));
}
Reason::Reason(const Reason& other) {
  std::construct_at(static_cast<AnyReason*>(ReasonAccess::place(*this)), ReasonAccess::of(other));
}
Reason::Reason(Reason&& other) noexcept {
  std::construct_at(static_cast<AnyReason*>(ReasonAccess::place(*this)), std::move(ReasonAccess::of(other)));
}
Reason& Reason::operator=(const Reason& other) {
  ReasonAccess::of(*this) = ReasonAccess::of(other);
  return *this;
}
Reason& Reason::operator=(Reason&& other) noexcept {
  ReasonAccess::of(*this) = std::move(ReasonAccess::of(other));
  return *this;
}
Reason::~Reason() {
  std::destroy_at(&ReasonAccess::of(*this));
}

bool Reason::operator==(const Reason& other) const {
  return ReasonAccess::of(*this) == ReasonAccess::of(other);
}

bool says_the_same(const Reason& one, const Reason& other) {
  return visit_reason(
      [&]<class R>(const R& told) {
        const R* also = reason_as<R>(other);
        if (also == nullptr) return false;
        if constexpr (requires { told.word; }) {
          if (told.word != also->word) return false;
        }
        return identity_of(told) == identity_of(*also);
      },
      one);
}

const reason::Traits& traits_of(const Reason& reason) {
  return visit_reason([]<class R>(const R&) -> const reason::Traits& { return R::kTraits; }, reason);
}

bool same_kind(const Reason& one, const Reason& other) {
  return ReasonAccess::of(one).index() == ReasonAccess::of(other).index();
}

// One for each of the list; the linker misses the one that is forgotten.
template Reason::Reason(reason::Measuring);
template Reason::Reason(reason::WaitingForSlots);
template Reason::Reason(reason::PreemptsLater);
template Reason::Reason(reason::PreemptionLimit);
template Reason::Reason(reason::PreemptionRefused);
template Reason::Reason(reason::NodesBeingCleared);
template Reason::Reason(reason::NeverFits);
template Reason::Reason(reason::NoNodeMatches);
template Reason::Reason(reason::WaitingForNodes);
template Reason::Reason(reason::DomainsTooSmall);
template Reason::Reason(reason::WaitingForDomains);
template Reason::Reason(reason::BeyondGuarantee);
template Reason::Reason(reason::BudgetSpent);
template Reason::Reason(reason::BudgetStopped);
template Reason::Reason(reason::BehindOlderJob);
template Reason::Reason(reason::SuspendedByUser);
template Reason::Reason(reason::NoNodes);
template Reason::Reason(reason::WaitsForState);
template Reason::Reason(reason::PriceWait);
template Reason::Reason(reason::PolicyFailed);
template Reason::Reason(reason::MeritWait);
template Reason::Reason(reason::DeadlineLost);
template Reason::Reason(reason::TurnWait);
template Reason::Reason(reason::AwaitsPolicy);
template Reason::Reason(reason::PolicyWord);
template Reason::Reason(reason::Cooldown);
template Reason::Reason(reason::MinRuntime);
template Reason::Reason(reason::EndsSoon);
template Reason::Reason(reason::PreemptedOften);
template Reason::Reason(reason::AskedToLeave);
template Reason::Reason(reason::RefusesToLeave);
template Reason::Reason(reason::TransitionInProgress);
template Reason::Reason(reason::FixedSize);
template Reason::Reason(reason::PinnedByUser);
template Reason::Reason(reason::EfficiencySettled);
template Reason::Reason(reason::UtilitySettled);
template Reason::Reason(reason::AtMax);
template Reason::Reason(reason::AtMin);
template Reason::Reason(reason::NoSlotsToGrow);
template Reason::Reason(reason::PriceCap);
template Reason::Reason(reason::BatchTooSmall);
template Reason::Reason(reason::NoMeasurements);
template Reason::Reason(reason::TransitionTooDear);
template Reason::Reason(reason::StragglerWatched);
template Reason::Reason(reason::StragglerInData);
template Reason::Reason(reason::StragglerEased);
template Reason::Reason(reason::PriceHold);
template Reason::Reason(reason::Unclaimed);
template Reason::Reason(reason::MeritHold);
template Reason::Reason(reason::NoRoomTogether);
template Reason::Reason(reason::NoRoomByRules);
template Reason::Reason(reason::TurnHold);
template Reason::Reason(reason::ShareHold);
template Reason::Reason(reason::Started);
template Reason::Reason(reason::ExploreUp);
template Reason::Reason(reason::ExploreDown);
template Reason::Reason(reason::EfficientUp);
template Reason::Reason(reason::InefficientDown);
template Reason::Reason(reason::UtilityUp);
template Reason::Reason(reason::UtilityDown);
template Reason::Reason(reason::GatherEvidence);
template Reason::Reason(reason::PriceGrow);
template Reason::Reason(reason::PriceShrink);
template Reason::Reason(reason::MeritGrow);
template Reason::Reason(reason::MeritShrink);
template Reason::Reason(reason::BudgetShrunk);
template Reason::Reason(reason::ResizedByUser);
template Reason::Reason(reason::BackToSize);
template Reason::Reason(reason::StragglerRebalanced);
template Reason::Reason(reason::SharesRegained);
template Reason::Reason(reason::StragglerReplaced);
template Reason::Reason(reason::StragglerShrunk);
template Reason::Reason(reason::StragglerNoSpare);
template Reason::Reason(reason::WorkerLost);
template Reason::Reason(reason::ProgramFailed);
template Reason::Reason(reason::BelowMinimum);
template Reason::Reason(reason::StartTimeout);
template Reason::Reason(reason::LeftBehind);
template Reason::Reason(reason::WorkerStuck);
template Reason::Reason(reason::SwitchTimeout);
template Reason::Reason(reason::ParkTimeout);
template Reason::Reason(reason::EndTimeout);
template Reason::Reason(reason::Preempted);
template Reason::Reason(reason::Resumed);
template Reason::Reason(reason::ResumedElsewhere);
template Reason::Reason(reason::ResumedByTransfer);
template Reason::Reason(reason::MovedForType);
template Reason::Reason(reason::MovedTogether);
template Reason::Reason(reason::MovedForRoom);
template Reason::Reason(reason::DrainMove);
template Reason::Reason(reason::DrainShrink);
template Reason::Reason(reason::DrainGrow);
template Reason::Reason(reason::DrainSuspend);
template Reason::Reason(reason::DrainHold);
template Reason::Reason(reason::DrainStop);
template Reason::Reason(reason::NodesDrain);
template Reason::Reason(reason::NodesUnsteady);
template Reason::Reason(reason::NodeForGang);
template Reason::Reason(reason::NodeForGrowth);
template Reason::Reason(reason::NodeForMinimum);
template Reason::Reason(reason::NodeForPolicy);
template Reason::Reason(reason::NodeBeyondPolicy);
template Reason::Reason(reason::NodeIdle);
template Reason::Reason(reason::NodeNotWorth);
template Reason::Reason(reason::NodeEmptied);
template Reason::Reason(reason::NodeNeverJoined);
template Reason::Reason(reason::NodeAway);
template Reason::Reason(reason::NodeLifetimeEnds);
template Reason::Reason(reason::NodeSurplus);
template Reason::Reason(reason::Finished);
template Reason::Reason(reason::CancelledByUser);
template Reason::Reason(reason::WorkersFailed);
template Reason::Reason(reason::Finishing);
template Reason::Reason(reason::FailedAtEnd);
template Reason::Reason(reason::FinishTimeout);
template Reason::Reason(reason::MaxDuration);

}  // namespace tidepool::core
