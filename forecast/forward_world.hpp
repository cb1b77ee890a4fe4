// The world that a forecast lets the engine act in: workers that boot, switch, step, save their state and leave, each
// after the time that is expected of it, and none of which ever fails. It is told of every change of the state and says
// what happens next, as the facts that the engine would learn. Pure; the same calls give the same facts.
//
// What is under way follows from the state alone, so that a forecast may begin at any: a worker that starts is ready
// after its boot; a committed generation steps after its stall; a job that steps reports now and then, and its end; a
// worker that has to leave is gone a moment later. Workers on nodes that are away stay where they are.
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
  // `report_every`: a job that steps reports at least so long apart; the longer it goes on, the more seldom.
  ForwardWorld(Expectations& expectations, Duration report_every)
      : expectations_(&expectations), report_every_(report_every) {}

  // The job may have changed. Called for all jobs at the beginning, and after every fact and decision for those of it.
  void follow(const core::ClusterState& state, JobId job, Instant now);
  // May lie in the past: what should have happened by now.
  [[nodiscard]] std::optional<Instant> next_at() const;
  // What happens next, now; may be nothing. Requires: next_at() has come.
  [[nodiscard]] std::vector<core::Fact> take(const core::ClusterState& state, Instant now);

 private:
  // A training as it goes on, in steps at the batch that its job declares.
  struct Course {
    bool known = false;          // the rest is of this job
    std::int64_t step = 0;       // done by `since`
    std::int64_t end_step = 0;   // the last one
    std::int64_t told_step = 0;  // when the forecast began, and the samples of these
    std::int64_t told_samples = 0;
    bool steps = false;
    double rate = 0;  // steps a second
    Instant since;
    Instant begun;              // at this rate
    std::int64_t reported = 0;  // of the steps
    Instant reported_until;
    GenerationNumber generation = 0;  // that steps, or stepped last
    GenerationNumber awaited = 0;     // whose switch is scheduled, or was
    std::uint64_t token = 0;          // what was scheduled with an older one is void
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
  std::set<std::pair<JobId, std::int64_t>> brought_;       // saved states that are scheduled to arrive, by step
};

}  // namespace tidepool::forecast
