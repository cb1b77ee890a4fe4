// Which jobs a decision must examine, and which results it can reuse.
//
// Rules. Everything kept here follows from the state and from what was examined; it is no part of the state, and a
// restart examines everything. Each set of jobs is a row of one table: its name and the test for membership. A result
// kept between decisions declares its inputs and is valid until one of them changes (Memo); no caller invalidates
// anything explicitly. decide_from_scratch() uses none of this and must decide the same.
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

// Sets of jobs. Those about a plan are empty if the active policy is a rule.
enum class JobSet {
  kPending,        // waiting jobs
  kClaiming,       // waiting jobs that slots would help
  kHeldBack,       // running jobs that could change with free slots
  kSpread,         // jobs with workers on several nodes, which could move together
  kAsking,         // unended jobs that request particular nodes
  kExclusive,      // exclusive jobs that hold slots
  kPendingChoosy,  // waiting jobs that request particular nodes
  kCounted,        // jobs that a plan may include, or the newest one includes
  kOffPlan,        // jobs whose size differs from their target
  kSlowOffPlan,    // of those, with a slow worker: reports of other jobs on its node may change its diagnosis
  kReleasing,      // jobs some of whose slots are being released
  kUnanswered,     // jobs that the active policy file must be asked about
};
inline constexpr std::size_t kJobSets = 12;

// Other inputs of a decision.
enum class Input {
  kSlots,  // free slots, or the jobs that wait for them
  kNodes,
  kPlan,  // the targets of a plan, and intents under way
  kDesk,  // inputs about no job, such as which policy file decides
};
inline constexpr std::size_t kInputs = 4;

class Worklist {
 public:
  // The revisions of some inputs; equal stamps = none of them has changed.
  using Stamp = std::vector<std::uint64_t>;
  // A set counts as changed when a job that is or was in it has changed.
  struct Inputs {
    std::initializer_list<JobSet> sets;
    std::initializer_list<Input> others;
  };

  // Call when the active policy changes: drops everything known about jobs, and marks everything for examination.
  void reset(const ClusterState& state);

  // The job has changed, or was examined; its due times count up to `until`.
  void follow(const ClusterState& state, const EngineParts& parts, const Job& job, Instant until);
  // The job has left the state.
  void forget(JobId job);
  // A fact was applied: marks what it touched for examination.
  void learn(const Touched& touched, bool speaks_of_nodes);
  // A decision was accepted: nothing needs examination until new facts arrive or something becomes due.
  void accept(const Decision& decision);

  [[nodiscard]] const IdSet<JobId>& operator[](JobSet set) const { return sets_[static_cast<std::size_t>(set)]; }
  // The jobs changed since the newest decision, those that have become due, and those without an answer.
  [[nodiscard]] IdSet<JobId> to_look_at(Instant now) const;
  [[nodiscard]] std::optional<Instant> next_due() const;
  // Some job of the set has become due by time alone since it was followed.
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

// The result of a computation over declared inputs, valid until one of them changes.
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
