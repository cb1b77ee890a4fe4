#include "core/provision/node_room.hpp"

#include <algorithm>

#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// A capped job takes no slot that would exceed the cap if all its slots cost as much.
bool is_within_cap(const Job& job, Money price) {
  const auto& cap = job.spec.scaling.price_cap;
  const std::int64_t slots = std::int64_t{gang_of(job)} * job.spec.gpus_per_worker;
  return !cap || price.count_micros() * slots <= cap->count_micros();
}

// The job's groups are within nodes of one type, which pools state for nodes that have not joined yet.
bool has_groups_by_type(const JobSpec& spec) {
  return has_groups(spec) && spec.placement.key == kSlotTypeLabel && !spec.mixed_types;
}

}  // namespace

int workers_together(const JobSpec& spec) {
  return has_groups_by_type(spec) ? 1 : spec.elastic.group;
}

int gang_of(const Job& job) {
  return job.requests.pinned_size > 0 ? job.requests.pinned_size : job.spec.elastic.sizes.front();
}

bool suits(const Job& job, const PoolSpec& pool) {
  const int least = workers_together(job.spec);
  const bool is_strict = job.spec.placement.exclusive || has_strict_topology(job.spec);
  return is_within_cap(job, pool.price_per_slot_hour) && pool.slots_per_node / job.spec.gpus_per_worker >= least &&
         (!is_choosy(job.spec) || (!is_strict && may_run_on(job, node_to_be(pool))));
}

NodeRoom::NodeRoom(const ClusterState& state) {
  for (const auto& [name, pool] : state.pools.pools) {
    if (pool.spec.slot_type.empty()) continue;
    type_of_pool_.emplace(name, pool.spec.slot_type);
    types_.insert(pool.spec.slot_type);
  }
  for (const auto& [request, mine] : state.pools.nodes) {
    if (const Node* joined = state.find_node(mine.node)) type_of_pool_.try_emplace(mine.pool, joined->slot_type);
  }
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers()) continue;
    const auto free = std::count(node.owners.begin(), node.owners.end(), WorkerId());
    places_.push_back({.node = id, .there = &node, .free = static_cast<int>(free)});
    free_ += static_cast<int>(free);
    types_.insert(node.slot_type);
  }
  for (const auto& [request, mine] : state.pools.nodes) {
    const NodePool& pool = *state.pools.find(mine.pool);
    if (mine.is_coming() && !pool.retired) add(pool.spec, 1);
  }
}

bool NodeRoom::may_be_of(const PoolSpec& pool, const std::string& type) const {
  const auto known = type_of_pool_.find(pool.name);
  return type == kAnyType || known == type_of_pool_.end() || known->second == type;
}

bool NodeRoom::suits(const Job& job, const Place& place, const std::string& type) const {
  if (place.pool != nullptr) return may_be_of(*place.pool, type) && tidepool::core::suits(job, *place.pool);
  const bool is_of_type = type == kAnyType || place.there->slot_type == type;
  return is_of_type && may_run_on(job, *place.there) && is_within_cap(job, place.there->price_per_slot_hour);
}

std::vector<std::string> NodeRoom::types_for(const Job& job) const {
  if (job.spec.mixed_types || types_.empty()) return {kAnyType};
  return {types_.begin(), types_.end()};
}

bool NodeRoom::share_a_domain(const Job& job, const PoolSpec& pool) const {
  return has_groups_by_type(job.spec) && type_of_pool_.contains(pool.name);
}

NodeRoom::Domain NodeRoom::domain_at(const Job& job, std::size_t place) const {
  if (!has_groups(job.spec)) return {};
  const Place& at = places_[place];
  if (at.there != nullptr) return {0, domain_of(*at.there, job.spec.placement.key)};
  if (share_a_domain(job, *at.pool)) return {0, type_of_pool_.at(at.pool->name)};
  return {place + 1, ""};
}

std::map<NodeRoom::Domain, int> NodeRoom::workers_by_domain(const Job& job, const std::string& type) const {
  std::map<Domain, int> workers;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    if (suits(job, places_[at], type)) workers[domain_at(job, at)] += places_[at].free / job.spec.gpus_per_worker;
  }
  return workers;
}

int NodeRoom::workers_of(const Job& job, const std::string& type) const {
  const auto& cap = job.spec.scaling.price_cap;
  const auto [known, is_first] = known_.try_emplace(
      {node_demand(job.spec), job.spec.gpus_per_worker, type, cap ? gang_of(job) : 0, cap.value_or(Money())}, 0);
  if (!is_first) return known->second;
  for (const auto& [domain, workers] : workers_by_domain(job, type)) {
    known->second += workers - workers % job.spec.elastic.group;
  }
  return known->second;
}

int NodeRoom::workers_of(const Job& job) const {
  int most = 0;
  for (const std::string& type : types_for(job)) most = std::max(most, workers_of(job, type));
  return most;
}

std::optional<std::string> NodeRoom::type_with_room(const Job& job, int workers) const {
  for (const std::string& type : types_for(job)) {
    if (workers_of(job, type) >= workers) return type;
  }
  return std::nullopt;
}

int NodeRoom::workers_on_more(const Job& job, const PoolSpec& pool) const {
  const int workers = pool.slots_per_node / job.spec.gpus_per_worker;
  return share_a_domain(job, pool) ? workers : workers - workers % job.spec.elastic.group;
}

int NodeRoom::workers_over(const Job& job, const std::string& type) const {
  if (!has_groups_by_type(job.spec)) return 0;
  const auto workers = workers_by_domain(job, type);
  const auto of_type = workers.find({0, type});
  return of_type == workers.end() ? 0 : of_type->second % job.spec.elastic.group;
}

std::map<NodeRoom::Domain, int> NodeRoom::workers_to_put(const Job& job, int workers, const std::string& type) const {
  if (!has_groups(job.spec)) return {{Domain(), workers}};
  std::map<Domain, int> put = workers_by_domain(job, type);
  for (auto& [domain, here] : put) {
    here = std::min(workers, here - here % job.spec.elastic.group);
    workers -= here;
  }
  return put;
}

std::vector<NodeRoom::Share> NodeRoom::shares_of(const Job& job, int workers, const std::string& type) const {
  std::map<Domain, int> left_in = workers_to_put(job, workers, type);
  std::vector<Share> shares;
  for (std::size_t at = 0; at < places_.size() && workers > 0; ++at) {
    const Place& place = places_[at];
    if (!suits(job, place, type)) continue;
    int& left = left_in.at(domain_at(job, at));
    const int here = std::min(left, place.free / job.spec.gpus_per_worker);
    if (here > 0) shares.push_back({at, here * job.spec.gpus_per_worker});
    left -= here;
    workers -= here;
  }
  return shares;
}

void NodeRoom::take(const Job& job, int workers, const std::string& type) {
  taken_.clear();
  for (const Share& share : shares_of(job, workers, type)) {
    Place& place = places_[share.place];
    place.free -= share.slots;
    (place.node ? free_ : coming_) -= share.slots;
    known_.clear();
    if (place.node) taken_.insert(place.node);
  }
}

void NodeRoom::add(const PoolSpec& pool, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    places_.push_back({.node = {}, .pool = &pool, .free = pool.slots_per_node});
    coming_ += pool.slots_per_node;
  }
  known_.clear();
}

void NodeRoom::leave_out(NodeId node) {
  const auto at = std::find_if(places_.begin(), places_.end(), [&](const Place& any) { return any.node == node; });
  if (at == places_.end()) return;
  free_ -= at->free;
  places_.erase(at);
  known_.clear();
}

void NodeRoom::hold_taken() {
  held_.insert(taken_);
}

void NodeRoom::hold(const Job& job, int workers, const std::string& type) {
  for (const Share& share : shares_of(job, workers, type)) {
    if (const NodeId node = places_[share.place].node) held_.insert(node);
  }
}

}  // namespace tidepool::core
