#include "core/words/adjusted_reason.hpp"

#include <cmath>
#include <concepts>
#include <optional>
#include <utility>

#include "core/state/reason_read.hpp"

namespace tidepool::core {
namespace {

template <class R>
concept TellsSizes = requires(R& told) {
  told.from = 1;
  told.to = 1;
};

template <class R>
concept TellsClaimants = requires(R& told) {
  told.for_job = std::optional<JobId>();
  told.for_others = std::optional<int>();
};

template <class R>
concept TellsFreeSlots = R::kTraits.category == ReasonCategory::kWaiting && requires(R& told) {
  told.needed = 1;
  { told.free } -> std::same_as<int&>;
};

// Reasons of a change that do not name its direction fit both.
bool fits(ReasonCategory category, int from, int to) {
  switch (category) {
    case ReasonCategory::kGrowing: return to > from;
    case ReasonCategory::kShrinking: return to < from;
    case ReasonCategory::kResizing:
    case ReasonCategory::kPolicy: return true;
    default: return false;
  }
}

class WholeWorkers {
 public:
  explicit WholeWorkers(int slots_per_worker) : each_(slots_per_worker) {}

  template <class T>
  void operator()(const char*, T& value, unsigned use = reason::kPlain) const {
    if constexpr (requires { T::fields(value, *this); }) {
      T::fields(value, *this);
    } else if constexpr (std::is_same_v<T, double>) {
      if (!std::isfinite(value)) value = 0;
    } else if constexpr (std::is_same_v<T, int>) {
      if ((use & reason::kSize) != 0) value /= each_;  // as largest_size() cuts
    }
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value, unsigned use = reason::kPlain) const {
    if (value) (*this)(name, *value, use);
  }
  void operator()(const char*, reason::Judgement& by, unsigned = reason::kPlain) const {
    std::visit(
        [&]<class By>(By& any) {
          if constexpr (!std::is_same_v<By, std::monostate>) By::fields(any, *this);
        },
        by);
  }

 private:
  int each_;
};

// The reason describes a change that is none in whole workers.
bool tells_no_change(const Reason& reason) {
  return visit_reason(
      []<class R>(const R& told) {
        const ReasonCategory category = R::kTraits.category;
        if constexpr (TellsSizes<R>) {
          const bool changes = category == ReasonCategory::kGrowing || category == ReasonCategory::kShrinking ||
                               category == ReasonCategory::kResizing;
          return changes && told.from == told.to;
        } else {
          return false;
        }
      },
      reason);
}

}  // namespace

Reason reason_of_change(const Reason& wished, int from, int to) {
  return visit_reason(
      [&]<class R>(const R& wish) -> Reason {
        if constexpr (TellsSizes<R>) {
          if (fits(R::kTraits.category, from, to)) {
            R told = wish;
            told.from = from;
            told.to = to;
            return told;
          }
        }
        return reason::BackToSize{{.from = from, .to = to}};
      },
      wished);
}

Reason reason_of_preemption(const Reason& wished) {
  if (traits_of(wished).category != ReasonCategory::kHolding) return wished;
  return reason::Preempted{};
}

Reason reason_of_start(const Reason& wished, Reason of_start, int size) {
  const auto* word = reason_as<reason::PolicyWord>(wished);
  if (word == nullptr || is_any_of<reason::ResumedElsewhere, reason::ResumedByTransfer>(of_start)) return of_start;
  reason::PolicyWord told = *word;
  told.from = 0;
  told.to = size;
  return told;
}

Reason with_claimants(Reason reason, const reason::Claimants& claimants) {
  visit_reason(
      [&]<class R>(R& told) {
        if constexpr (TellsClaimants<R>) {
          told.for_job = claimants.for_job;
          told.for_others = claimants.for_others;
          told.rule = claimants.rule;
        }
      },
      reason);
  return reason;
}

Reason with_share_rule(Reason reason, const reason::ShareRule& rule) {
  visit_reason(
      [&]<class R>(R& told) {
        if constexpr (requires { told.rule = rule; }) {
          if (told.for_job) told.rule = rule;
        }
      },
      reason);
  return reason;
}

reason::Claimants claimants_in(const Reason& reason) {
  return visit_reason(
      []<class R>(const R& told) -> reason::Claimants {
        if constexpr (TellsClaimants<R>)
          return {.for_job = told.for_job, .for_others = told.for_others, .rule = told.rule};
        return {};
      },
      reason);
}

void fill_in_free_slots(Reason& reason, const std::function<int()>& free) {
  visit_reason(
      [&]<class R>(R& told) {
        // A job that waits for nodes counts those that match its request.
        if constexpr (TellsFreeSlots<R> && !std::is_same_v<R, reason::WaitingForNodes>) told.free = free();
      },
      reason);
}

Reason in_workers(Reason reason, int slots_per_worker) {
  visit_reason([&]<class R>(R& told) { R::fields(told, WholeWorkers(slots_per_worker)); }, reason);
  return reason;
}

Reason in_workers(const Reason& reason, const SizesInWorkers& sizes) {
  if (const auto* word = reason_as<reason::PolicyWord>(reason)) {
    reason::PolicyWord told = *word;
    told.from = sizes.from;
    told.to = sizes.to;
    return told;
  }
  Reason told = in_workers(reason, sizes.slots_per_worker);
  return tells_no_change(told) ? sizes.unchanged : told;
}

std::vector<Alternative> in_workers(std::vector<Alternative> lost, int slots_per_worker) {
  for (Alternative& each : lost) {
    each.size /= slots_per_worker;
    each.reason = in_workers(std::move(each.reason), slots_per_worker);
    if (!std::isfinite(each.score)) each.score = 0;
  }
  std::erase_if(lost, [](const Alternative& each) { return tells_no_change(each.reason); });
  return lost;
}

}  // namespace tidepool::core
