// When a plan for the whole cluster is made anew. Everything is judged from the state and the time, so an engine that
// lived through it and one that was restarted plan at the same moments. A plan is made anew
//   when a job comes, goes, or asks for something else, or its program refuses to leave,
//   when a size has been measured for the first time, or takes a tenth longer or shorter than the plan counted with,
//   when a job's size can change again that could not when the plan was made,
//   when a policy file, which had not been asked about a job, can be,
//   when nodes come or go, or a worker leaves one that takes no others,
//   when tenants share them otherwise, when the policy asked to be woken, and after EngineConfig::plan_every.
// A report of steps that says nothing new does none of it. Neither does a job that arrives at a size at which it was
// measured before: the plan that sent it there counted with what it does there, so the same would be planned again.
#pragma once

#include <cstdint>
#include <optional>

#include "core/decide/cluster_planner.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// A step time that moves by this factor is news.
inline constexpr double kNoticeable = 1.1;

// The plan counts with the job: it runs or waits for slots, and goes on doing so.
[[nodiscard]] bool counts(const Job& job, Instant now);

// When its size can change again, if it runs and only time keeps it from that: the end of its cooldown and of its
// minimum run time; none if neither applies.
[[nodiscard]] std::optional<Instant> resizable_at(const Job& job);

// Its size cannot change now: it boots, changes or parks already, cools down, or has its minimum run time before it.
// One that waits to start its failed programs anew counts as free from the moment after the decision to do so: it gives
// way to guarantees (size_planner.hpp).
[[nodiscard]] bool resize_is_blocked(const Job& job, Instant now);

// What of a job's specification, and of its program's refusals, a plan may depend on.
[[nodiscard]] std::uint64_t digest_of_wishes(const Job& job);

[[nodiscard]] PlanInputs inputs_of(const Job& job, Instant now);

// Of the nodes that a plan may count with: their ids, slots and prices, which are cordoned, and how many slots of those
// jobs hold; and of how tenants share them.
[[nodiscard]] std::uint64_t digest_of_nodes(const ClusterState& state);

// The newest plan does not rest on what is known of the job now.
[[nodiscard]] bool inputs_have_changed(const Job& job, Instant now);

// Whether the policy in charge, which plans for the whole cluster, must plan now.
[[nodiscard]] bool plan_is_due(const DecisionDraft& draft, const PlanScope& scope);

// When the plan is due though nothing happens. Requires: a plan was made.
[[nodiscard]] Instant next_plan_at(const ClusterPlan& plan, Duration every);

}  // namespace tidepool::core
