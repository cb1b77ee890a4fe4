#include "core/provision/node_room.hpp"

#include <algorithm>

#include "core/state/node_constraints.hpp"

namespace tidepool::core {
namespace {

// A job with a cap takes no slot that would be beyond it were all its slots as dear.
bool is_within_cap(const Job& job, Money price) {
  const auto& cap = job.spec.scaling.price_cap;
  const std::int64_t slots = std::int64_t{gang_of(job)} * job.spec.gpus_per_worker;
  return !cap || price.count_micros() * slots <= cap->count_micros();
}

}  // namespace

int gang_of(const Job& job) {
  return job.requests.pinned_size > 0 ? job.requests.pinned_size : job.spec.elastic.sizes.front();
}

bool suits(const Job& job, const PoolSpec& pool) {
  return is_within_cap(job, pool.price_per_slot_hour) && pool.slots_per_node >= job.spec.gpus_per_worker &&
         (!is_choosy(job.spec) || (!has_gang_rule(job.spec) && may_run_on(job, node_to_be(pool))));
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

int NodeRoom::workers_of(const Job& job, const std::string& type) const {
  const auto& cap = job.spec.scaling.price_cap;
  const auto [known, is_first] = known_.try_emplace(
      {node_demand(job.spec), job.spec.gpus_per_worker, type, cap ? gang_of(job) : 0, cap.value_or(Money())}, 0);
  if (!is_first) return known->second;
  for (const Place& place : places_) {
    if (suits(job, place, type)) known->second += place.free / job.spec.gpus_per_worker;
  }
  return known->second;
}

int NodeRoom::workers_of(const Job& job) const {
  int most = 0;
  for (const std::string& type : types_for(job)) most = std::max(most, workers_of(job, type));
  return most;
}

std::vector<NodeRoom::Share> NodeRoom::shares_of(const Job& job, int workers, const std::string& type) const {
  std::vector<Share> shares;
  for (std::size_t at = 0; at < places_.size() && workers > 0; ++at) {
    const Place& place = places_[at];
    const int here = suits(job, place, type) ? std::min(workers, place.free / job.spec.gpus_per_worker) : 0;
    if (here > 0) shares.push_back({at, here * job.spec.gpus_per_worker});
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
