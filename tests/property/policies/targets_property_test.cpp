// A policy is a plan from scratch, whatever form an engine runs: what a rule says of a job that the engine looks at,
// and what a planner that is kept between decisions leaves in the state, are the targets of that plan.
#include <catch2/catch.hpp>

#include "core/decide/decision_draft.hpp"
#include "core/decide/plan_inputs.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {
namespace {

// The plan of the policy in charge, made of this state alone, for the jobs that go on.
class FromScratch {
 public:
  FromScratch(const core::ClusterState& state, const core::EngineParts& parts, Instant now)
      : draft_(state, parts, now), state_(state), now_(now) {}

  [[nodiscard]] core::DecisionDraft& draft() { return draft_; }
  [[nodiscard]] core::PlanAnswer plan(const std::function<bool(const core::Job&)>& goes_on) {
    IdSet<JobId> jobs;
    for (const auto& [id, job] : state_.jobs) {
      if (goes_on(*job)) jobs.insert(id);
    }
    const std::function<bool(const core::Job&)> own = [&](const core::Job& job) { return !draft_.follows_plan(job); };
    core::StepBudget budget(100'000'000);
    auto answer =
        draft_.active_policy().plan({{state_, now_}, jobs, jobs, goes_on, own, core::digest_of_nodes(state_)}, budget);
    INFO((answer.ok() ? "" : answer.error().message));
    REQUIRE(answer.ok());
    return *std::move(answer);
  }

 private:
  core::DecisionDraft draft_;
  const core::ClusterState& state_;
  Instant now_;
};

// What the decision's plan gives the job.
std::optional<int> planned_size(const core::Decision& decision, const core::Job& job) {
  for (const core::TargetChange& change : decision.replan->changes) {
    if (change.job == job.id) return change.now ? std::optional(change.now->size) : std::nullopt;
  }
  return job.planned ? std::optional(job.planned->target.size) : std::nullopt;
}

IdSet<JobId> ended_by(const core::Decision& decision) {
  IdSet<JobId> ended;
  for (const core::PlannedIntent& planned : decision.plan) {
    if (const auto* end = std::get_if<core::EndJobIntent>(&planned.intent)) ended.insert(end->job);
  }
  return ended;
}

}  // namespace

TEST_CASE("what a rule says of each job is its policy's plan from scratch") {
  for_each_seed("targets of rules", 10, [](std::uint64_t seed, Rng&) {
    for (const char* policy : {"fixed", "fifo", "autoscaling_engine"}) {
      INFO(policy);
      const core::EngineParts parts = parts_of(policy);
      // Only the policy in charge is asked: no job has pinned another one.
      core::Engine::Parts alone = parts;
      alone.policies = {{"default", parts.policies.at("default")}};
      SimulatedWorld world(seed, true, alone);
      for (int i = 0; i < 100; ++i) {
        world.tick();
        FromScratch anew(world.state(), alone, world.now());
        const auto goes_on = [&](const core::Job& job) { return core::counts(job, world.now()); };
        for (const auto& [id, target] : anew.plan(goes_on).targets) {
          const core::Target asked = anew.draft().unplanned_target(*world.state().find_job(id));
          REQUIRE(asked.size == target.size);
          REQUIRE(asked.reason == target.reason);
          REQUIRE(asked.lost == target.lost);
        }
        decide_and_check(world);
      }
    }
  });
}

TEST_CASE("what a planner that is kept leaves in the state is its policy's plan from scratch") {
  int compared = 0;
  for_each_seed("targets of planners", 6, [&](std::uint64_t seed, Rng&) {
    for (const char* policy : {"tidal", "las", "tiresias", "elastic_tiresias", "cluster_autoscaling"}) {
      INFO(policy);
      const core::EngineParts parts = parts_of(policy);
      SimulatedWorld world(seed, true, parts);
      for (int i = 0; i < 100; ++i) {
        world.tick();
        const core::Decision decision = world.engine().decide(world.now());
        if (decision.replan && decision.replan->error.empty()) {
          const IdSet<JobId> ended = ended_by(decision);
          FromScratch anew(world.state(), parts, world.now());
          const auto goes_on = [&](const core::Job& job) {
            return core::counts(job, world.now()) && !ended.contains(job.id);
          };
          for (const auto& [id, target] : anew.plan(goes_on).targets) {
            INFO(id.text());
            REQUIRE(planned_size(decision, *world.state().find_job(id)) == target.size);
            ++compared;
          }
        }
        decide_and_check(world);
      }
    }
  });
  CHECK(compared > 100);
}

}  // namespace tidepool::test
