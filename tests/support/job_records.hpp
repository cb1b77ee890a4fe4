// Builds a job with measurements, as a policy sees it, without an engine: for tests of policies alone.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/decide/policy.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::test {

// One job in a state of its own; the clock stands at one hour unless it is moved.
struct JobWorld {
  core::ClusterState state;
  Instant now = Instant::from_micros(0) + Duration::seconds(3'600);
  core::Job job;

  explicit JobWorld(std::vector<int> sizes, int preferred = 1) {
    job.id = JobId(1);
    job.phase = core::phase::Running{};
    job.spec.elastic.sizes = std::move(sizes);
    job.spec.elastic.min = job.spec.elastic.sizes.front();
    job.spec.elastic.max = job.spec.elastic.sizes.back();
    job.spec.elastic.preferred = preferred;
    job.spec.batch.global = 4'096;
    job.spec.batch.per_worker_max = 4'096;
  }

  // The job now has `size` members and has measured long enough to be judged.
  JobWorld& at(int size) {
    job.membership.members.clear();
    for (int i = 1; i <= size; ++i) job.membership.members.emplace_back(static_cast<std::uint64_t>(i));
    job.measurements.steps_since_switch = job.spec.scaling.every_steps;
    return *this;
  }
  JobWorld& measured(int size, double samples_per_second, std::int64_t steps = 100) {
    job.measurements.sizes[size] = {.steps = steps,
                                    .step_seconds = static_cast<double>(job.spec.batch.global) / samples_per_second,
                                    .samples_per_second = samples_per_second,
                                    .measured_at = now};
    return *this;
  }
  // A node whose slots all cost the same, for prices; the job holds none of them.
  JobWorld& priced(Money per_slot_hour) {
    core::Node node{.id = NodeId(1), .name = "n", .price_per_slot_hour = per_slot_hour};
    node.owners.resize(64);
    state.nodes[node.id] = std::move(node);
    return *this;
  }

  [[nodiscard]] core::Target ask(const core::JobRule& rule) {
    state.jobs[job.id] = std::make_shared<core::Job>(job);
    core::StepBudget budget(1'000'000);
    return rule.target(core::ClusterView{.state = state, .now = now}, *state.jobs[job.id], budget);
  }
};

}  // namespace tidepool::test
