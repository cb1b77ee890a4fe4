#include "policies/cluster/engine_rows.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/id_set.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/place/placement.hpp"
#include "core/state/account.hpp"
#include "core/state/job_state.hpp"
#include "core/state/largest_batch.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/price_cap.hpp"
#include "core/tenants/tenant_needs.hpp"
#include "policies/cluster/size_explorer.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr int kPriorityMost = 20;  // beyond it a weight is as good as infinite

bool holds_slots(const core::Job& job) {
  return job.state() != core::JobState::kPending && job.state() != core::JobState::kSuspending;
}

// A change binds its job for its cooldown: what turns out to be worth less cannot be taken back before, and what comes
// meanwhile finds it bound. So it is charged as if it stood still for so long; at most for a minute, so that a job
// with a long cooldown can still move.
constexpr Duration kBoundMost = Duration::seconds(60);

// Neither pinned nor of a program that reports nothing to judge sizes by.
bool may_be_resized(const core::Job& job) {
  return job.requests.pinned_size == 0 && !reports_nothing(job);
}

// Of changes to so many workers.
TransitionCosts costs_of(const core::Job& job, int workers) {
  const Duration bound = std::min(job.spec.elastic.cooldown, kBoundMost);
  const Duration resume = core::resume_cost(job);
  if (job.spec.resize == core::ResizeMode::kRestart) {
    const Duration change = core::restart_stall(job, workers) + bound;
    const Duration start = core::resume_cost(job, workers);
    return {.grow = change, .shrink = change, .move = change, .start = start, .boot = {}, .resume = resume};
  }
  const Duration boot = core::boot_time(job, workers);
  return {.grow = core::change_stall(job, &core::TypeRecords::grow_cost, workers) + bound,
          .shrink = core::change_stall(job, &core::TypeRecords::shrink_cost, workers) + bound,
          .move = core::change_stall(job, &core::TypeRecords::replace_cost, workers) + bound,
          .start = boot,
          .boot = boot,
          .resume = resume};
}

void set_costs(const core::Job& job, JobRow& row) {
  row.costs = costs_of(job, core::kAnySize);
  row.transition = std::max({row.costs.grow, row.costs.shrink, row.costs.move});
  for (const int size : core::sizes_of_costs(job)) {
    TransitionCosts costs = costs_of(job, size);
    if (costs != row.costs) row.costs_by_size.push_back({.workers = size, .costs = costs});
  }
}

// What a program tells counts once its speed was measured: before that its samples say nothing of how long they take.
// Of one whose speed never is, it counts as if declared.
void set_work(const core::Job& job, const JobSpeed& speed, JobRow& row) {
  const double batch = double(job.spec.batch.global);
  row.steps_done = double(job.progress.samples) / batch;
  if (job.spec.deadline) row.deadline = job.submitted_at + *job.spec.deadline;
  const auto left = core::samples_left(job);
  const bool tells = job.spec.work_samples || speed.is_known() || reports_nothing(job);
  if (!left || !tells) return;
  row.steps_left = *left / batch;
  row.useful_left = row.steps_left;
}

// Takes slots from nodes until there are no more than `most`: first those that none of the rows holds, from the nodes
// with the fewest of these, so that whole nodes stay for gangs; from nodes that some row asks for last. By node: slots
// that the rows hold, and whether one asks for it.
void limit_slots(View& view, const std::vector<int>& held, const std::vector<bool>& asked, int most) {
  int over = view.slots() - most;
  const auto spare = [&](std::size_t node) { return std::max(0, view.nodes[node].slots - held[node]); };
  std::vector<std::size_t> order(view.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(bool{asked[a]}, spare(a), a) < std::tuple(bool{asked[b]}, spare(b), b);
  });
  const auto take = [&](std::size_t node, int slots) {
    const int taken = std::min(over, slots);
    view.nodes[node].slots -= taken;
    over -= taken;
  };
  for (const std::size_t node : order) {
    if (over > 0) take(node, spare(node));
  }
  for (auto node = order.rbegin(); node != order.rend() && over > 0; ++node) take(*node, view.nodes[*node].slots);
}

// Why a job that holds slots may not have the next of its own sizes, where that is no matter of its measurements.
std::optional<core::Reason> bound_of(const core::ClusterState& state, const core::Job& job, int room,
                                     const JobRow& row) {
  if (reports_nothing(job)) return core::reason::NoMeasurements{{.size = row.size_max}};
  const int each = row.slots_per_worker;
  const AllowedSizes ladder = ladder_of(state, job);
  if (ladder.cut_short && !ladder.has(row.size_beyond / each)) {
    const std::int64_t most = core::largest_batch(job.spec.batch);
    if (row.size_beyond / each <= most) return ladder.cut;
    return core::reason::BatchTooSmall{.size = row.size_beyond, .global = most};
  }
  if (row.size_beyond <= room) return std::nullopt;
  return core::reason::NoSlotsToGrow{.wanted = row.size_beyond - row.size_max, .all = room};
}

void set_beyond(const core::ClusterState& state, const core::Job& job, int room, JobRow& row) {
  const auto& sizes = job.spec.elastic.sizes;
  const auto next = std::upper_bound(sizes.begin(), sizes.end(), row.size_max / row.slots_per_worker);
  if (next == sizes.end()) return;
  row.size_beyond = *next * row.slots_per_worker;
  if (!row.placement.empty() && row.pinned == 0) row.bound = bound_of(state, job, room, row);
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
    if (job->state() == core::JobState::kSucceeded) note_end(id, job->account.slot_time);
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
  const KinSizes::Sizes kin = kin_sizes_.expected(job);
  if (expected && kin.empty()) return JobSpeed(job, *expected);
  return JobSpeed(job, JobSpeed::Kin{kin});
}

void EngineRows::follow_ended(const core::ClusterState& state, JobId id) {
  const core::EndedJob* job = state.find_ended(id);
  if (job == nullptr) {
    kin_.withdraw(id);
    ratios_.withdraw(id);
    kin_sizes_.withdraw(id);
    const auto place = place_of_.find(id);
    if (place == place_of_.end()) return;
    place_of_.erase(place);
    has_gaps_ = true;
    return;
  }
  ratios_.tell(*job);
  kin_sizes_.tell(*job);
  kin_.tell(SimilarJobs::progress_of(*job), JobSpeed(*job));
  if (job->state == core::JobState::kSucceeded) note_end(id, job->slot_time);
}

void EngineRows::note_end(JobId id, Duration slot_time) {
  const auto [place, is_new] = place_of_.try_emplace(id, ended_.size());
  if (is_new) ended_.push_back(0);
  ended_[place->second] = slot_time.to_seconds();
}

// What is left of them, in the order in which they ended.
void EngineRows::close_gaps() {
  if (!std::exchange(has_gaps_, false)) return;
  std::vector<std::pair<std::size_t, JobId>> left;
  for (const auto& [id, place] : place_of_) left.emplace_back(place, id);
  std::sort(left.begin(), left.end());
  for (std::size_t i = 0; i < left.size(); ++i) {
    ended_[i] = ended_[left[i].first];
    place_of_[left[i].second] = i;
  }
  ended_.resize(left.size());
}

void EngineRows::follow_nodes(const core::ClusterState& state) {
  std::vector<NodeId> up;
  for (const auto& [id, node] : state.nodes) {
    if (node.state == core::NodeState::kUp) up.push_back(id);
  }
  count_types(state);
  look_at_prices(state);
  if (up == nodes_) return;
  nodes_ = std::move(up);
  asked_.clear();
  index_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) index_[nodes_[i]] = static_cast<int>(i);
  kept_.clear();
  demands_.clear();
  kin_.forget_all();
  ratios_.forget_all();
  kin_sizes_.forget_all();
}

void EngineRows::count_types(const core::ClusterState& state) {
  open_.clear();
  asked_.clear();
  std::size_t slots = 0;
  double price = 0;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers()) continue;
    open_[node.slot_type] += static_cast<int>(node.owners.size());
    slots += node.owners.size();
    price += node.price_per_slot_hour.to_units() * double(node.owners.size());
  }
  slot_price_ = slots > 0 ? price / double(slots) : 0;
}

// Which nodes a price cap leaves follows from them.
void EngineRows::look_at_prices(const core::ClusterState& state) {
  std::set<Money> prices;
  for (const auto& [id, node] : state.nodes) {
    if (node.state == core::NodeState::kUp) prices.insert(node.price_per_slot_hour);
  }
  const Money dearest = core::dearest_slot(state);
  if (dearest == dearest_ && std::equal(prices.begin(), prices.end(), prices_.begin(), prices_.end())) return;
  dearest_ = dearest;
  prices_.assign(prices.begin(), prices.end());
  for (auto& [id, kept] : kept_) kept.row.reset();
}

bool EngineRows::asks(const core::ClusterState& state, const core::Job& job) const {
  return core::asks_for_nodes(state, job, dearest_);
}

core::NodeDemand EngineRows::demand_made(const core::ClusterState& state, const core::Job& job) const {
  core::NodeDemand demand = core::node_demand(job.spec);
  if (!core::is_bound_by_cap(state, job, dearest_)) return demand;
  const auto above = std::upper_bound(prices_.begin(), prices_.end(), *core::slot_price_max(job));
  demand.slot_price_max = above == prices_.begin() ? Money::micros(-1) : *std::prev(above);  // -1: no slot
  return demand;
}

const EngineRows::Asked& EngineRows::asked(const core::ClusterState& state, const core::Job& job) {
  const std::size_t demand = demand_of(state, job);
  if (asked_.size() <= demand) asked_.resize(demand + 1);
  std::optional<Asked>& asked = asked_[demand];
  if (asked) return *asked;
  asked.emplace();
  const bool is_bound = core::is_bound_by_cap(state, job, dearest_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const core::Node& node = *state.find_node(nodes_[i]);
    const bool may = is_bound ? core::may_run_within_cap(job, node) : core::may_run_on(job, node);
    if (!may) continue;
    asked->nodes.push_back(static_cast<int>(i));
    asked->of_type[node.slot_type].push_back(static_cast<int>(i));
    if (node.is_closed()) continue;
    asked->slots[node.slot_type] += static_cast<int>(node.owners.size());
    asked->at_prices[node.slot_type][node.price_per_slot_hour] += static_cast<std::int64_t>(node.owners.size());
  }
  return *asked;
}

const std::vector<int>* EngineRows::nodes_open_to(const core::ClusterState& state, const core::Job& job) {
  const auto bound = has_several_types() ? core::bound_type(state, job) : std::nullopt;
  if (!bound) return asks(state, job) ? &asked(state, job).nodes : nullptr;
  const Asked& nodes = asked(state, job);
  const auto of_type = nodes.of_type.find(*bound);
  return of_type == nodes.of_type.end() ? &nodes.nodes : &of_type->second;
}

int EngineRows::reach_of(const core::ClusterState& state, const core::Job& job) {
  const auto bound = core::bound_type(state, job);
  int most = 0;
  int sum = 0;
  for (const auto& [type, slots] : asks(state, job) ? asked(state, job).slots : open_) {
    if (bound && *bound != type) continue;
    most = std::max(most, slots);
    sum += slots;
  }
  return job.spec.mixed_types ? sum : most;
}

Placement EngineRows::placement_of(const core::ClusterState& state, const core::Job& job) const {
  Placement placement;
  for (const WorkerId id : job.membership.workers) {
    const core::Worker& worker = *state.find_worker(id);
    const bool leaves = worker.phase == core::WorkerPhase::kLeaving || worker.kill_at ||
                        (job.phase.transition() && core::contains(job.phase.transition()->leaving_workers, id));
    const auto node = index_.find(worker.node);
    if (leaves || worker.is_gone() || node == index_.end()) continue;
    const auto share = std::find_if(placement.begin(), placement.end(),
                                    [&](const Share& entry) { return entry.node == node->second; });
    const int slots = static_cast<int>(worker.slots.size());
    if (share == placement.end()) {
      placement.push_back({.node = node->second, .slots = slots});
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
  if (is_bound) terms.room = std::min(terms.room, reach_of(view.state, job));
  if (core::has_gang_rule(job.spec)) {
    terms.room = std::min(terms.room, core::capacity_in_place(view.state, job) * row.slots_per_worker);
  }
  if (asks_for_nodes && terms.lists_nodes) bind_to_nodes(view.state, job, row);
  std::vector<int> sizes = sizes_of(view.state, job, terms);
  const auto at = std::lower_bound(sizes.begin(), sizes.end(), job.size());
  // It may have what it cannot give up now.
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
  row.slot_price = slot_price_;
  set_beyond(view.state, job, terms.room, row);
  if (job.spec.scaling.price_cap) bound_by_cap(view.state, job, row);
  return row;
}

std::optional<Money> EngineRows::SizePrices::of(int slots) const {
  const int more = slots - held_slots;
  const auto each = rooms.each_of(more);
  if (!each) return std::nullopt;
  return held + Money::micros(each->count_micros() * more);
}

EngineRows::SizePrices EngineRows::prices_of(const core::ClusterState& state, const core::Job& job) {
  const Placement& held = placement(state, job);
  const Asked& nodes = asked(state, job);
  const auto bound = core::bound_type(state, job);
  core::RoomsByPrice::OfTypes rooms;
  const auto add = [&](const std::string& type, Money price, std::int64_t slots) {
    if (bound && *bound != type) return;
    rooms[job.spec.mixed_types ? std::string() : type][price] += slots;
  };
  for (const auto& [type, by_price] : nodes.at_prices) {
    for (const auto& [price, slots] : by_price) add(type, price, slots);
  }
  for (const Share& share : held) {
    const core::Node& node = *state.find_node(nodes_[static_cast<std::size_t>(share.node)]);
    const bool is_counted = !node.is_closed() && std::binary_search(nodes.nodes.begin(), nodes.nodes.end(), share.node);
    if (is_counted) add(node.slot_type, node.price_per_slot_hour, -share.slots);
  }
  return {.held = core::price_per_hour(state, job), .held_slots = size_of(held), .rooms = core::RoomsByPrice(rooms)};
}

void EngineRows::cut_to_cap(const core::ClusterState& state, const core::Job& job, AllowedSizes& ladder) {
  const SizePrices prices = prices_of(state, job);
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
  row.nodes = asked(state, job).nodes;
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
    kept.demand = demands_.try_emplace(demand_made(state, job), demands_.size()).first->second;
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
  std::vector<int> slots(nodes_.size(), 0);
  for (const JobId id : jobs) {
    for (const Share& share : placement(state, *state.find_job(id)))
      slots[static_cast<std::size_t>(share.node)] += share.slots;
  }
  return slots;
}

std::vector<bool> EngineRows::asked_for(const core::ClusterState& state, const std::vector<JobId>& jobs) {
  std::vector<bool> found(nodes_.size(), false);
  for (const JobId id : jobs) {
    const core::Job& job = *state.find_job(id);
    if (!asks(state, job)) continue;
    for (const int node : asked(state, job).nodes) found[static_cast<std::size_t>(node)] = true;
  }
  return found;
}

EngineRows::Rows EngineRows::rows(const core::PlanRequest& request) {
  const core::ClusterState& state = request.view.state;
  follow_nodes(state);
  Rows rows{.view = {.now = request.view.now}, .claims = {}, .capacity = 0};
  View& view = rows.view;
  view.mark = request.mark;
  close_gaps();
  view.ended_slot_seconds = ended_;
  for (const NodeId id : nodes_) {
    const core::Node& node = *state.find_node(id);
    view.nodes.push_back({.id = id,
                          .slots = node.is_closed() ? 0 : static_cast<int>(node.owners.size()),
                          .slot_type = node.slot_type,
                          .price_per_hour = node.price_per_slot_hour.to_units()});
  }
  const auto slots_on = [&](const Share& share) -> int& {
    return view.nodes[static_cast<std::size_t>(share.node)].slots;
  };
  std::map<std::tuple<int, bool, std::size_t>, int> capacity;  // by what decides it
  core::LeastPrices least_prices;
  std::vector<std::tuple<Instant, JobId>> order;
  IdSet<JobId> own_policies;
  for (const JobId id : request.jobs) {
    const core::Job& job = *state.find_job(id);
    if (!request.counts(job)) continue;
    const bool has_own_policy = request.has_own_policy(job);
    if (has_own_policy) own_policies.insert(id);
    const Placement& held = placement(state, job);
    for (const Share& share : held) {
      // A cordoned node has what is held there, and nothing to give.
      if (state.find_node(nodes_[static_cast<std::size_t>(share.node)])->is_closed()) slots_on(share) += share.slots;
    }
    const core::JobSpec& spec = job.spec;
    const int each = spec.gpus_per_worker;
    if ((asks(state, job) || (has_several_types() && !job.spec.mixed_types)) && held.empty()) {
      const auto [kind, is_new] = capacity.try_emplace({each, spec.mixed_types, demand_of(state, job)}, 0);
      if (is_new) kind->second = core::empty_cluster_capacity(state, job);
      const int fits = kind->second;
      if (fits < job.spec.elastic.sizes.front()) {
        rows.misfits.emplace_back(id, fits * each);
        continue;
      }
    }
    if (held.empty() && !least_prices.allow(state, job)) {
      rows.misfits.emplace_back(id, 0);
      continue;
    }
    if (!is_claim(job, has_own_policy)) {
      order.emplace_back(job.submitted_at, id);
      continue;
    }
    rows.claims.push_back(id);
  }
  rows.capacity = view.slots();
  const std::vector<int> claimed = slots_by_node(state, rows.claims);
  for (std::size_t node = 0; node < nodes_.size(); ++node) view.nodes[node].slots -= claimed[node];
  std::sort(order.begin(), order.end());
  if (request.slots_most) {
    const std::vector<JobId> others = jobs_in(order);
    const int most = *request.slots_most - std::accumulate(claimed.begin(), claimed.end(), 0);
    limit_slots(view, slots_by_node(state, others), asked_for(state, others), std::max(0, most));
  }
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
