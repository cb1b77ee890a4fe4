#include "policies/engine/engine_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/id_set.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/place/placement.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/tenants/tenant_needs.hpp"
#include "policies/engine/empty_cluster.hpp"
#include "policies/engine/row_terms.hpp"
#include "policies/engine/size_explorer.hpp"
#include "policies/engine/slot_limit.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr int kPriorityMost = 20;  // beyond it a weight is as good as infinite

bool holds_slots(const core::Job& job) {
  return job.state() != core::JobState::kPending && job.state() != core::JobState::kSuspending;
}

// Neither pinned nor of a program that reports nothing to judge sizes by.
bool may_be_resized(const core::Job& job) {
  return job.requests.pinned_size == 0 && !reports_nothing(job);
}

}  // namespace

bool is_claim(const core::Job& job, bool has_own_policy) {
  return holds_slots(job) && core::is_fixed_claim(job, has_own_policy);
}

namespace {

std::vector<JobId> jobs_in(const std::vector<std::tuple<Instant, JobId>>& order) {
  std::vector<JobId> jobs;
  jobs.reserve(order.size());
  for (const auto& [submitted, id] : order) jobs.push_back(id);
  return jobs;
}

// Jobs that hold nothing and that an empty cluster would not hold: they wait for slots of which there are never enough.
class Misfits {
 public:
  Misfits(EngineRows& rows, const core::ClusterState& state) : rows_(rows), state_(state) {}

  // How many slots there are for it; none: enough.
  [[nodiscard]] std::optional<int> slots_of(const core::Job& job) {
    if (is_bound(job)) {
      const int workers = empty_cluster_.workers_of(state_, job, rows_.demand_of(state_, job));
      if (workers < job.spec.elastic.sizes.front()) return workers * job.spec.gpus_per_worker;
    }
    return empty_cluster_.is_cheap_enough_for(state_, job) ? std::nullopt : std::optional(0);
  }

 private:
  // To nodes or to one type. Of others, gangs among them, the layout of the rows finds whether they fit, which
  // TidalPlanner::may_ever_run() does not have.
  [[nodiscard]] bool is_bound(const core::Job& job) const {
    return rows_.asks(state_, job) || (rows_.has_several_types() && !job.spec.mixed_types);
  }

  EngineRows& rows_;
  const core::ClusterState& state_;
  EmptyCluster empty_cluster_;
};

}  // namespace

std::vector<JobId> EngineRows::follow(const core::ClusterState& state, JobId id) {
  kin_.forget(id);
  ratios_.forget(id);
  kin_sizes_.forget(id);
  if (const core::Job* job = state.find_job(id)) {
    Kept& kept = kept_[id];
    ratios_.tell(*job);
    kin_sizes_.tell(*job);
    kept.speed.emplace(speed_of(*job));
    kept.row.reset();
    kin_.tell(SimilarJobs::progress_of(*job), JobSpeed(*job));
    if (core::is_final(job->state())) forget(id);
    if (job->state() == core::JobState::kSucceeded) ended_.note(id, job->account.slot_time);
  } else {
    forget(id);
    follow_ended(state, id);
  }
  std::vector<JobId> moved = kin_.take_moved(ratios_);
  for (const JobId other : moved) kept_.at(other).row.reset();
  for (const auto& others : {ratios_.take_moved(), kin_sizes_.take_moved()}) {
    for (const JobId other : others) {
      const core::Job* job = state.find_job(other);
      if (job == nullptr) continue;  // it has left and is followed next
      kept_.at(other).row.reset();
      kept_.at(other).speed.emplace(speed_of(*job));
      moved.push_back(other);
    }
  }
  return moved;
}

void EngineRows::forget(JobId id) {
  kept_.erase(id);
  ratios_.forget(id);
  kin_sizes_.forget(id);
}

// On a type of slot on which neither it nor its kin were measured, by what it did on another.
JobSpeed EngineRows::speed_of(const core::Job& job) {
  const auto expected = ratios_.expected(job);
  const SimilarJobSizes::Sizes kin = kin_sizes_.expected(job);
  if (expected && kin.empty()) return JobSpeed(job, *expected);
  return JobSpeed(job, JobSpeed::Kin{kin});
}

void EngineRows::follow_ended(const core::ClusterState& state, JobId id) {
  const core::EndedJob* job = state.find_ended(id);
  if (job == nullptr) {
    kin_.withdraw(id);
    ratios_.withdraw(id);
    kin_sizes_.withdraw(id);
    ended_.forget(id);
    return;
  }
  ratios_.tell(*job);
  kin_sizes_.tell(*job);
  kin_.tell(SimilarJobs::progress_of(*job), JobSpeed(*job));
  if (job->state == core::JobState::kSucceeded) ended_.note(id, job->slot_time);
}

void EngineRows::follow_nodes(const core::ClusterState& state) {
  const DemandedNodes::Change change = nodes_.follow(state);
  if (change.prices) {
    for (auto& [id, kept] : kept_) kept.row.reset();
  }
  if (!change.nodes) return;
  kept_.clear();
  kin_.forget_all();
  ratios_.forget_all();
  kin_sizes_.forget_all();
}

const std::vector<int>* EngineRows::nodes_open_to(const core::ClusterState& state, const core::Job& job) {
  const auto bound = has_several_types() ? core::bound_type(state, job) : std::nullopt;
  if (!bound && !asks(state, job)) return nullptr;
  return &nodes_.asked(state, {job, demand_of(state, job)}).of(bound);
}

Placement EngineRows::placement_of(const core::ClusterState& state, const core::Job& job) const {
  Placement placement;
  for (const WorkerId id : job.membership.workers) {
    const core::Worker& worker = *state.find_worker(id);
    const bool leaves = worker.phase == core::WorkerPhase::kLeaving || worker.kill_at ||
                        (job.phase.transition() && core::contains(job.phase.transition()->leaving_workers, id));
    const auto node = nodes_.place_of(worker.node);
    if (leaves || worker.is_gone() || !node) continue;
    const auto share =
        std::find_if(placement.begin(), placement.end(), [&](const Share& entry) { return entry.node == *node; });
    const int slots = static_cast<int>(worker.slots.size());
    if (share == placement.end()) {
      placement.push_back({.node = *node, .slots = slots});
    } else {
      share->slots += slots;
    }
  }
  return placement;
}

const Placement& EngineRows::placement(const core::ClusterState& state, const core::Job& job) {
  return kept(state, job).row->placement;
}

// In workers. Fixed claims and jobs of which nothing can be learnt have one size: what they hold, or the largest that
// is wanted and that the cluster has room for.
std::vector<int> EngineRows::sizes_of(const core::ClusterState& state, const core::Job& job, const Terms& terms) {
  AllowedSizes ladder = ladder_of(state, job);
  if (job.spec.scaling.price_cap) cut_to_cap(state, job, ladder);
  if (ladder.sizes.empty()) return {job.spec.elastic.sizes.front()};
  if (!terms.has_own_policy && may_be_resized(job)) {
    if (style_ == RowStyle::kAllSizes) return {ladder.sizes.begin(), ladder.sizes.end()};
    return SizeExplorer(state, job, std::move(ladder)).sizes(*kept(state, job).speed);
  }
  if (job.size() > 0 && ladder.has(job.size())) return {job.size()};
  const int wanted = job.requests.pinned_size > 0 ? job.requests.pinned_size : job.spec.elastic.preferred;
  return {ladder.start_size(std::min(wanted, terms.room / job.spec.gpus_per_worker))};
}

JobRow EngineRows::row(const core::ClusterView& view, const core::Job& job, Terms terms) {
  JobRow row = *kept(view.state, job).row;
  row.resize_blocked = core::resize_is_blocked(job, view.now);
  row.preemptible = row.preemptible && !terms.spared;
  const bool asks_for_nodes = asks(view.state, job);
  const bool is_bound = asks_for_nodes || (has_several_types() && !job.spec.mixed_types);
  if (is_bound) terms.room = std::min(terms.room, nodes_.reach_of(view.state, {job, demand_of(view.state, job)}));
  if (core::has_gang_rule(job.spec)) {
    terms.room = std::min(terms.room, core::capacity_in_place(view.state, job) * row.slots_per_worker);
  }
  if (asks_for_nodes && terms.lists_nodes) bind_to_nodes(view.state, job, row);
  std::vector<int> sizes = sizes_of(view.state, job, terms);
  const auto at = std::lower_bound(sizes.begin(), sizes.end(), job.size());
  // It may keep what it cannot release now.
  const auto& allowed = job.spec.elastic.sizes;
  const bool keeps = row.resize_blocked && std::binary_search(allowed.begin(), allowed.end(), job.size());
  if (keeps && (at == sizes.end() || *at != job.size())) sizes.insert(at, job.size());
  for (int& size : sizes) size *= row.slots_per_worker;
  row.sizes = std::move(sizes);
  // No size beyond what there is of the types that it asks for, but for what it holds.
  const int most = std::max(terms.room, size_of(row.placement));
  while (is_bound && row.sizes.size() > 1 && row.sizes.back() > most) row.sizes.pop_back();
  row.size_min = row.sizes.front();
  row.size_max = row.sizes.back();
  row.grows_later = !terms.has_own_policy && may_be_resized(job) && job.spec.elastic.sizes.size() > 1;
  if (row.pinned > 0) row.pinned = row.size_max;  // or as much of it as there is
  const int wanted = std::min(job.spec.elastic.preferred * row.slots_per_worker, terms.room);
  row.size_wanted = std::max(row.size_min, largest_size(row, wanted));
  row.held = Duration::micros(static_cast<std::int64_t>(row.slot_seconds / row.size_wanted * 1e6));
  row.slot_price = nodes_.slot_price();
  set_beyond(view.state, job, terms.room, row);
  if (job.spec.scaling.price_cap) bound_by_cap(view.state, job, row);
  return row;
}

DemandedNodes::SizePrices EngineRows::prices_of(const core::ClusterState& state, const core::Job& job) {
  return nodes_.prices_of(state, {job, demand_of(state, job)}, placement(state, job));
}

void EngineRows::cut_to_cap(const core::ClusterState& state, const core::Job& job, AllowedSizes& ladder) {
  const DemandedNodes::SizePrices prices = prices_of(state, job);
  while (!ladder.sizes.empty() && ladder.sizes.back() * job.spec.gpus_per_worker > prices.held_slots) {
    const auto price = prices.of(ladder.sizes.back() * job.spec.gpus_per_worker);
    if (price && *price <= *job.spec.scaling.price_cap) return;
    ladder.sizes = ladder.sizes.first(ladder.sizes.size() - 1);
    ladder.cut_short = true;
  }
}

void EngineRows::bound_by_cap(const core::ClusterState& state, const core::Job& job, JobRow& row) {
  const int held = size_of(row.placement);
  if (held == 0 || row.pinned > 0 || row.bound || row.size_beyond <= held) return;
  const auto price = prices_of(state, job).of(row.size_beyond);
  const Money cap = *job.spec.scaling.price_cap;
  if (price && *price > cap) row.bound = core::reason::PriceCap{.cap = cap, .price = *price};
}

void EngineRows::bind_to_nodes(const core::ClusterState& state, const core::Job& job, JobRow& row) {
  row.nodes = nodes_.asked(state, {job, demand_of(state, job)}).nodes;
  // What it has elsewhere, from before the labels changed, it keeps.
  for (const Share& share : row.placement) {
    const auto at = std::lower_bound(row.nodes->begin(), row.nodes->end(), share.node);
    if (at == row.nodes->end() || *at != share.node) row.nodes->insert(at, share.node);
  }
}

const EngineRows::Kept& EngineRows::kept(const core::ClusterState& state, const core::Job& job) {
  Kept& kept = kept_[job.id];
  if (!kept.speed) kept.speed.emplace(speed_of(job));
  if (!kept.row) {
    kept.scaling = job.spec.scaling;
    kept.row = made(state, job, *kept.speed);
    kept.row->scaling = &kept.scaling;
    kept.demand = nodes_.demand_of(state, job);
  }
  return kept;
}

JobRow EngineRows::made(const core::ClusterState& state, const core::Job& job, const JobSpeed& speed) {
  const int each = job.spec.gpus_per_worker;
  JobRow row;
  row.id = job.id;
  row.tenant = job.spec.tenant;
  row.types_asked = job.spec.slot_types;
  row.submitted = job.submitted_at;
  row.priority = job.spec.priority;
  row.weight = std::ldexp(1.0, std::clamp(job.spec.priority, -kPriorityMost, kPriorityMost));
  row.placement = placement_of(state, job);
  row.slot_seconds = job.account.slot_time.to_seconds();
  row.largest_seen = speed.largest_measured() * each;
  row.resizes = job.membership.generation > 1 ? static_cast<int>(job.membership.generation) - 1 : 0;
  row.slots_per_worker = each;
  row.preemptible = job.spec.preemptible;
  row.pinned = job.requests.pinned_size * each;
  set_costs(job, row);
  row.speed = &speed;
  set_work(job, speed, row);
  if (!row.useful_left) {
    if (const auto left = kin_.expect(job, speed, ratios_)) row.useful_expected = *left / double(job.spec.batch.global);
  }
  if (job.planned) row.mark = job.planned->target.mark;
  return row;
}

std::vector<int> EngineRows::slots_by_node(const core::ClusterState& state, const std::vector<JobId>& jobs) {
  std::vector<int> slots(nodes().size(), 0);
  for (const JobId id : jobs) {
    for (const Share& share : placement(state, *state.find_job(id)))
      slots[static_cast<std::size_t>(share.node)] += share.slots;
  }
  return slots;
}

std::vector<bool> EngineRows::asked_for(const core::ClusterState& state, const std::vector<JobId>& jobs) {
  std::vector<bool> found(nodes().size(), false);
  for (const JobId id : jobs) {
    const core::Job& job = *state.find_job(id);
    if (!asks(state, job)) continue;
    for (const int node : nodes_.asked(state, {job, demand_of(state, job)}).nodes)
      found[static_cast<std::size_t>(node)] = true;
  }
  return found;
}

std::vector<NodeRow> EngineRows::node_rows(const core::ClusterState& state) const {
  std::vector<NodeRow> rows;
  rows.reserve(nodes().size());
  for (const NodeId id : nodes()) {
    const core::Node& node = *state.find_node(id);
    rows.push_back({.id = id,
                    .slots = node.is_closed() ? 0 : static_cast<int>(node.owners.size()),
                    .slot_type = node.slot_type,
                    .price_per_hour = node.price_per_slot_hour.to_units()});
  }
  return rows;
}

// A cordoned node has what is held there, and nothing to give.
void EngineRows::add_held_on_closed(const core::ClusterState& state, const Placement& held, View& view) const {
  for (const Share& share : held) {
    NodeRow& node = view.nodes[static_cast<std::size_t>(share.node)];
    if (state.find_node(node.id)->is_closed()) node.slots += share.slots;
  }
}

void EngineRows::limit_others(const core::ClusterState& state, const std::vector<JobId>& others, int slots_most,
                              View& view) {
  limit_slots(view, slots_by_node(state, others), asked_for(state, others), std::max(0, slots_most));
}

EngineRows::Rows EngineRows::rows(const core::PlanRequest& request) {
  const core::ClusterState& state = request.view.state;
  follow_nodes(state);
  Rows rows{.view = {.now = request.view.now}, .claims = {}, .capacity = 0};
  View& view = rows.view;
  view.mark = request.mark;
  view.ended_slot_seconds = ended_.in_order();
  view.nodes = node_rows(state);
  Misfits misfits(*this, state);
  std::vector<std::tuple<Instant, JobId>> order;
  IdSet<JobId> own_policies;
  for (const JobId id : request.jobs) {
    const core::Job& job = *state.find_job(id);
    if (!request.counts(job)) continue;
    const bool has_own_policy = request.has_own_policy(job);
    if (has_own_policy) own_policies.insert(id);
    const Placement& held = placement(state, job);
    add_held_on_closed(state, held, view);
    if (const auto fits = held.empty() ? misfits.slots_of(job) : std::nullopt) {
      rows.misfits.emplace_back(id, *fits);
    } else if (is_claim(job, has_own_policy)) {
      rows.claims.push_back(id);
    } else {
      order.emplace_back(job.submitted_at, id);
    }
  }
  rows.capacity = view.slots();
  const std::vector<int> claimed = slots_by_node(state, rows.claims);
  for (std::size_t node = 0; node < nodes().size(); ++node) view.nodes[node].slots -= claimed[node];
  std::sort(order.begin(), order.end());
  const int claimed_in_all = std::accumulate(claimed.begin(), claimed.end(), 0);
  if (request.slots_most) limit_others(state, jobs_in(order), *request.slots_most - claimed_in_all, view);
  const int room = view.slots();
  view.jobs.reserve(order.size());
  for (const auto& [submitted, id] : order) {
    const bool spared = request.spared != nullptr && request.spared->contains(id);
    const Terms terms{.has_own_policy = own_policies.contains(id), .room = room, .spared = spared};
    view.jobs.push_back(row(request.view, *state.find_job(id), terms));
  }
  return rows;
}

}  // namespace tidepool::policies::cluster
