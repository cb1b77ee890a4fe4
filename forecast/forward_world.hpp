// The world of a forecast: workers that boot, switch, step, save checkpoints and leave, each after its expected
// duration, and none of which fails. It receives every change of the state and returns the next events as the facts
// that the engine would learn. Pure; the same calls give the same facts.
//
// What is in progress follows from the state alone, so that a forecast may begin at any state: a starting worker is
// ready after its boot; a committed generation steps after its stall; a stepping job reports at intervals, and its end;
// a worker that has to leave exits a moment later. Workers on disconnected nodes stay where they are.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/event_heap.hpp"
#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"
#include "forecast/expectations.hpp"

namespace tidepool::forecast {

class ForwardWorld {
 public:
  // `report_every`: the shortest interval between reports of a stepping job; it grows with the time since the
  // beginning.
  ForwardWorld(Expectations& expectations, Duration report_every)
      : expectations_(&expectations), report_every_(report_every) {}

  // The job may have changed. Called for all jobs at the beginning, and after every fact and decision for the jobs that
  // it affects.
  void follow(const core::ClusterState& state, JobId job, Instant now);
  // May be in the past, for overdue events.
  [[nodiscard]] std::optional<Instant> next_at() const;
  // The next events, at next_at(); may be empty. Requires: next_at() has come.
  [[nodiscard]] std::vector<core::Fact> take(const core::ClusterState& state, Instant now);

 private:
  // The progress of one job, in steps at its declared batch.
  struct Course {
    bool known = false;          // the other members are set
    std::int64_t step = 0;       // done by `since`
    std::int64_t end_step = 0;   // the last one
    std::int64_t told_step = 0;  // at the beginning of the forecast, and their samples
    std::int64_t told_samples = 0;
    bool steps = false;
    double rate = 0;  // steps a second
    Instant since;
    Instant begun;              // at this rate
    std::int64_t reported = 0;  // steps
    Instant reported_until;
    GenerationNumber generation = 0;  // that steps, or stepped last
    GenerationNumber awaited = 0;     // whose switch is scheduled, or was
    std::uint64_t token = 0;          // events scheduled with an older one are ignored
  };
  struct ReportDue {
    JobId job;
    std::uint64_t token;
  };
  struct SwitchDue {
    JobId job;
    GenerationNumber generation;
  };
  using Event = std::variant<core::Fact, ReportDue, SwitchDue>;
  using Facts = std::vector<core::Fact>;

  void follow_workers(const core::ClusterState& state, const core::Job& job, Instant now);
  void follow_saved_state(const core::Job& job, Instant now);
  void follow_switch(const core::Job& job, Instant now);
  void follow_programs(const core::ClusterState& state, const core::Job& job, Instant now);
  void follow_course(const core::Job& job, Instant now);

  [[nodiscard]] Facts happens(const core::ClusterState& state, const core::Fact& fact, Instant now);
  [[nodiscard]] Facts happens(const core::ClusterState& state, const ReportDue& due, Instant now);
  [[nodiscard]] Facts happens(const core::ClusterState& state, const SwitchDue& due, Instant now);

  Course& course_of(const core::Job& job);
  static void advance(Course& course, Instant now);
  void halt(const core::Job& job, Instant now);
  void add_report(const core::Job& job, Course& course, Facts& facts) const;
  void schedule_report(const core::Job& job, Course& course);

  Expectations* expectations_;
  Duration report_every_;
  EventHeap<Event> heap_;
  IdTable<JobId, Course> courses_;
  IdSet<WorkerId> booting_;                                // whose readiness is scheduled
  IdSet<WorkerId> leaving_;                                // whose exit is scheduled
  std::set<std::pair<WorkerId, GenerationNumber>> waits_;  // programs that are scheduled to wait for their start,
  std::set<std::pair<WorkerId, GenerationNumber>> runs_;   // and to run
  std::set<std::pair<JobId, std::int64_t>> brought_;       // checkpoints whose arrival is scheduled, by step
};

}  // namespace tidepool::forecast
