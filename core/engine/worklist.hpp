// Which jobs a decision must look at, and what it need not do again.
//
// Rules. What is kept here follows from the state and from what has been looked at; it is no part of the state, and a
// restart begins with everything to be looked at. Each set of jobs is a row of one table: its name and the test by
// which a job belongs to it. What is kept between decisions declares its inputs and is good as long as none of them has
// changed (Memo); no caller says what has become stale. decide_anew() uses nothing of it and must decide the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/engine_parts.hpp"
#include "core/facts/state_change.hpp"

namespace tidepool::core {

// Sets of jobs. Those of a plan are empty where the policy in charge is a rule.
enum class JobSet {
  kPending,        // they wait
  kClaiming,       // of those, slots would help
  kHeldBack,       // running jobs that free slots would let change
  kSpread,         // have workers on several nodes, so that room may let them move together
  kAsking,         // have not ended and ask for particular nodes
  kExclusive,      // hold slots on nodes that are theirs alone
  kPendingChoosy,  // of those, wait
  kCounted,        // a plan may count with them, or the newest one does
  kOffPlan,        // do not have what the plan gives them
  kSlowOffPlan,    // of those, have a slow worker: reports of other jobs on its node may change its diagnosis
  kReleasing,      // their slots, or some of them, are on their way to being free
  kUnanswered,     // a policy file decides and must be asked about them
};
inline constexpr std::size_t kJobSets = 12;

// What else a decision rests on.
enum class Input {
  kSlots,  // free slots, or the jobs that wait for them
  kNodes,
  kPlan,  // the targets of a plan, and intents under way
  kDesk,  // what is about no job, such as which policy file decides
};
inline constexpr std::size_t kInputs = 4;

class Worklist {
 public:
  // The revisions of some inputs; equal ones = none of them has changed.
  using Stamp = std::vector<std::uint64_t>;
  // A set counts as changed when a job that is or was in it has changed.
  struct Inputs {
    std::initializer_list<JobSet> sets;
    std::initializer_list<Input> others;
  };

  // Another policy decides: all that is known of jobs is dropped, and everything is to be looked at.
  void reset(const ClusterState& state);

  // The job has changed, or has been looked at; its times count up to `until`.
  void follow(const ClusterState& state, const EngineParts& parts, const Job& job, Instant until);
  // The job has left the state.
  void forget(JobId job);
  // A fact was learnt. What it has touched is to be looked at.
  void learn(const Touched& touched, bool speaks_of_nodes);
  // A decision was accepted: nothing is to be looked at until more is learnt or comes due.
  void accept(const Decision& decision);

  [[nodiscard]] const IdSet<JobId>& operator[](JobSet set) const { return sets_[static_cast<std::size_t>(set)]; }
  // What has changed since the newest decision, what has come due, and what is unanswered.
  [[nodiscard]] IdSet<JobId> to_look_at(Instant now) const;
  [[nodiscard]] std::optional<Instant> next_due() const;
  // Some job of the set has come due by time alone since it was followed.
  [[nodiscard]] bool any_due(JobSet set, Instant now) const;
  // Since the newest decision.
  [[nodiscard]] bool slots_have_changed() const { return unseen_.capacity; }
  [[nodiscard]] bool nodes_have_changed() const { return nodes_changed_; }

  [[nodiscard]] Stamp stamp(const Inputs& inputs) const;

 private:
  void forget_due(JobId job);
  void note(Input input) { ++inputs_[static_cast<std::size_t>(input)]; }

  Touched unseen_{.jobs = {}, .capacity = true};
  bool nodes_changed_ = true;
  std::array<IdSet<JobId>, kJobSets> sets_;
  std::array<std::uint64_t, kJobSets> set_revisions_{};
  std::array<std::uint64_t, kInputs> inputs_{};
  std::set<std::pair<Instant, JobId>> due_;
  IdTable<JobId, Instant> due_of_;
};

// What a computation over declared inputs gave, for as long as doing it again would give the same.
template <class T>
class Memo {
 public:
  void keep(T value, Worklist::Stamp stamp) { kept_.emplace(std::move(value), std::move(stamp)); }
  // Null if there is none, or an input has changed since.
  [[nodiscard]] const T* find(const Worklist::Stamp& stamp) const {
    return kept_ && kept_->second == stamp ? &kept_->first : nullptr;
  }

 private:
  std::optional<std::pair<T, Worklist::Stamp>> kept_;
};

}  // namespace tidepool::core
