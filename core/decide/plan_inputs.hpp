// When a plan for the whole cluster must be made again. Everything is derived from the state and the time, so a running
// engine and a restarted one plan at the same moments. A plan is made
// - when a job is added, ends or changes its requests, or its program refuses to leave,
// - when a size was measured for the first time, or its step time changed by a tenth against the plan,
// - when a job's size can change again that was blocked in the plan,
// - when a policy file can be asked about a job for the first time,
// - when nodes are added or removed, or a worker leaves a node that takes no others,
// - when the division among tenants changed, when the policy requested a wake-up, and after EngineConfig::plan_every.
// A step report without new information causes no plan. Neither does a job that reaches a size at which it was measured
// before: the plan that sent it there already used those measurements, so the new plan would be the same.
#pragma once

#include <cstdint>
#include <optional>

#include "core/decide/cluster_planner.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A change of a step time by this factor is significant.
inline constexpr double kNoticeable = 1.1;

// The plan includes the job: it runs or waits for slots, and will continue to.
[[nodiscard]] bool counts(const Job& job, Instant now);

// When its size can change again, if it runs and only time blocks that: the end of its cooldown and of its minimum run
// time; none if neither applies.
[[nodiscard]] std::optional<Instant> resizable_at(const Job& job);

// Its size cannot change now: it boots, changes or saves its state already, cools down, or is within its minimum run
// time. A job that waits to restart its failed programs counts as changeable from the moment after the decision to
// restart: it releases slots for guarantees (size_planner.hpp).
[[nodiscard]] bool resize_is_blocked(const Job& job, Instant now);

// Digest of everything in a job's specification, and of its program's refusals, that a plan may depend on.
[[nodiscard]] std::uint64_t digest_of_request(const Job& job);

[[nodiscard]] PlanInputs inputs_of(const Job& job, Instant now);

// Digest of the nodes that a plan may use: their ids, slots and prices, which are cordoned, and how many slots jobs
// hold on those; and of how tenants share them.
[[nodiscard]] std::uint64_t digest_of_nodes(const ClusterState& state);

// The newest plan was not based on the present inputs of the job.
[[nodiscard]] bool inputs_have_changed(const Job& job, Instant now);

// Whether the active policy, which plans for the whole cluster, must plan now.
[[nodiscard]] bool plan_is_due(const DecisionDraft& draft, const PlanScope& scope);

// When the next plan is due without a fact. Requires: a plan was made.
[[nodiscard]] Instant next_plan_at(const ClusterPlan& plan, Duration every);

}  // namespace tidepool::core
