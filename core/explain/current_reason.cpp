#include "core/explain/current_reason.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/decide/rebalance_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/explain/tenant_evidence.hpp"
#include "core/explain/wait_bounds.hpp"
#include "core/place/domain_wait.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/placement.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/state/reason_read.hpp"

namespace tidepool::core {
namespace {

// Updates the fields that change with every step or second.
class Refresh {
 public:
  Refresh(const ClusterState& state, const Job& job) : state_(state), job_(job) {}

  void operator()(reason::Cooldown& why) const {
    if (!job_.last_resize_at) return;
    const auto held = job_.recovery.shrunk_for_straggler ? next_replacement(job_) : std::nullopt;
    why.left = until(*job_.last_resize_at + job_.spec.elastic.cooldown);
    if (held) why.left = std::max(why.left, until(*held));
  }
  void operator()(reason::WaitsForState& why) const {
    if (const auto ends = state_wait_ends(job_)) why.left = until(*ends);
  }
  void operator()(reason::MinRuntime& why) const {
    if (job_.last_start_at) why.left = until(*job_.last_start_at + job_.spec.elastic.min_runtime);
  }
  void operator()(reason::EndsSoon& why) const {
    if (const auto end = expected_end(job_)) why.left = until(*end);
  }
  void operator()(reason::Measuring& why) const {
    if (!why.steps) return;
    const auto record = job_.measurements.sizes.find(job_.size());
    const std::int64_t seen = record == job_.measurements.sizes.end() ? 0 : record->second.steps;
    why.steps = std::min(std::max(seen, *why.steps), why.of.value_or(seen));
  }
  void operator()(reason::WaitingForNodes& why) const { tell_nodes(nodes_asked_for(state_, job_), why); }
  void operator()(reason::WaitingForDomains& why) const { why = waits_by_rules(state_, FreeSlots(state_), job_, true); }
  void operator()(reason::DomainsTooSmall& why) const { why = domains_too_small(state_, job_, true); }
  void operator()(reason::StragglerEased& why) const {
    if (!slow_now(why)) return;
    why.share = static_cast<double>(share_of(job_, why.worker)) / static_cast<double>(kFullShare);
  }
  // Reports what was done, with the numbers of that time.
  void operator()(reason::StragglerRebalanced&) const {}
  void operator()(reason::SuspendedByUser& why) const {
    why.resumes = job_.state() == JobState::kSuspending && !job_.requests.suspend;
  }
  void operator()(reason::NoSlotsToGrow& why) const { tell_free(state_, job_, why); }
  void operator()(reason::BeyondGuarantee& why) const {
    if (const Tenant* tenant = state_.tenants->find(why.word)) why.guarantee = tenant->guarantee;
  }
  // The budget that took its slots, unless another budget keeps it from starting for longer.
  void operator()(reason::BudgetSpent& why) const {
    const auto last = job_.hold ? last_renewed(state_, job_) : std::nullopt;
    if (last && last->ends_unix > why.ends_unix) why = {*last};
  }
  template <class R>
  void operator()(R& why) const {
    if constexpr (std::is_base_of_v<reason::SlowWorker, R>) (void)slow_now(why);
    if constexpr (std::is_base_of_v<reason::OfDrain, R>) drain_now(why);
    if constexpr (requires { drain_now(why.drain); }) drain_now(why.drain);
    if constexpr (requires { why.needed, why.free = 0; }) why.free = free();
  }

 private:
  [[nodiscard]] Duration until(Instant when) const { return std::max(Duration(), when - state_.now); }
  // For a cancelled drain the stored text stays.
  void drain_now(reason::OfDrain& why) const {
    const Node* node = state_.find_node(why.node);
    if (node != nullptr && node->drain) why.left = until(node->drain->deadline);
  }
  // False if the worker is no longer slow; then the stored text stays.
  bool slow_now(reason::SlowWorker& why) const {
    const Worker* worker = state_.find_worker(why.worker);
    if (worker == nullptr || (worker->track.slow_steps == 0 && !job_.shares.rebalanced.contains(why.worker)))
      return false;
    why = slow_worker(state_, *worker, why.cost_s);
    return true;
  }
  [[nodiscard]] int free() const { return slots_free_for(state_, job_); }

  const ClusterState& state_;
  const Job& job_;
};

// Names the limit of the job's tenant, for the job's slot type or for all slots, if that limit is the binding one and
// not the job's own maximum.
Reason bound_by_share(const ClusterState& state, const Job& job, Reason reason) {
  if (!is_any_of<reason::AtMax, reason::NoSlotsToGrow>(reason) || job.size() >= job.spec.elastic.sizes.back())
    return reason;
  if (const auto part = is_any_of<reason::AtMax>(reason) ? binding_part(state, job) : std::nullopt) {
    return reason::ShareHold{.size = job.size(), .share = part->slots, .word = job.spec.tenant, .type = part->type};
  }
  if (is_any_of<reason::NoSlotsToGrow>(reason) && !has_used_share(state, job.spec.tenant)) return reason;
  const auto share = binding_share(state, job.spec.tenant);
  if (!share) return reason;
  return reason::ShareHold{.size = job.size(), .share = *share, .word = job.spec.tenant};
}

// All temporarily closed nodes are being released by their pools: it is useless to wait for them or to undrain them.
bool only_pools_drain(const ClusterState& state) {
  return std::all_of(state.nodes.begin(), state.nodes.end(), [&](const auto& any) {
    const Node& node = any.second;
    return node.state != NodeState::kUp || (node.drain ? state.pools.gives_back(any.first) : !node.is_unsteady());
  });
}

// Updates what the pool has too little of. If it has enough again, the next decision says so.
Reason sized_now(const ClusterState& state, const Job& job, Reason reason) {
  const bool is_of_pool = is_any_of<reason::NeverFits, reason::NoNodeMatches, reason::NodesDrain>(reason);
  if (!is_of_pool || job.state() != JobState::kPending) return reason;
  const int workers = empty_cluster_capacity(state, job);
  if (workers >= job.spec.elastic.sizes.front()) return reason;
  const int cluster = workers * job.spec.gpus_per_worker;
  const bool typed = !job.spec.slot_types.empty();
  Reason now = never_fits(state, job, cluster, typed);
  const bool is_drain = is_any_of<reason::NodesDrain>(now) && !asks_by_labels_or_memory(job.spec);
  if (!is_drain || !only_pools_drain(state)) return now;
  return reason::NeverFits{.needed = job.spec.smallest_slots(), .cluster = cluster, .typed = typed};
}

}  // namespace

Reason refreshed(const ClusterState& state, const Job& job, Reason reason) {
  const Refresh refresh(state, job);
  visit_reason(refresh, reason);
  reason = sized_now(state, job, std::move(reason));
  return bound_by_share(state, job, reason_with_wait_bounds(state, job, std::move(reason)));
}

Reason current_reason(const ClusterState& state, const Job& job) {
  return refreshed(state, job, job.verdict.reason);
}

bool cannot_start(const Job& job, const Reason& why) {
  if (job.state() != JobState::kPending) return false;
  const auto* never = reason_as<reason::NeverFits>(why);
  if (never != nullptr) return never->with_pools.value_or(0) < never->needed;
  const auto* small = reason_as<reason::DomainsTooSmall>(why);
  if (small != nullptr) return small->with_pools.value_or(0) < small->needed;
  return is_any_of<reason::NoNodeMatches>(why);
}

}  // namespace tidepool::core
