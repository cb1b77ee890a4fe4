#include "core/explain/wait_bounds.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/place/node_wait.hpp"
#include "core/place/placement.hpp"
#include "core/provision/node_room.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

using SlotCounts = std::map<std::string, int>;

bool has_several_types(const ClusterState& state) {
  return std::any_of(state.nodes.begin(), state.nodes.end(), [&](const auto& entry) {
    return entry.second.slot_type != state.nodes.begin()->second.slot_type;
  });
}

// Slots for whole workers, on nodes that accept some and suit the job.
SlotCounts slots_there(const ClusterState& state, const Job& job) {
  SlotCounts slots;
  const int each = job.spec.gpus_per_worker;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    slots[node.slot_type] += static_cast<int>(node.owners.size()) / each * each;
  }
  return slots;
}

// Nodes of the pool that have not joined and may be or have been requested, including replacements of leaving nodes.
int nodes_to_come(const ClusterState& state, const NodePool& pool) {
  int joined = 0;
  for (const auto& [request, node] : state.pools.nodes) {
    if (node.pool == pool.spec.name && node.state == PoolNodeState::kJoined) ++joined;
  }
  return pool.retired ? 0 : std::max(0, pool.spec.max - joined);
}

int most_of(const SlotCounts& slots, bool mixed) {
  int most = 0;
  for (const auto& [type, count] : slots) most = mixed ? most + count : std::max(most, count);
  return most;
}

void tell_room(const ClusterState& state, const Job& job, reason::NeverFits& why) {
  SlotCounts slots = slots_there(state, job);
  if (!job.spec.mixed_types && !why.typed && slots.size() > 1) {
    why.word = std::max_element(slots.begin(), slots.end(), [](const auto& a, const auto& b) {
                 return a.second < b.second;
               })->first;
  }
  const int each = job.spec.gpus_per_worker;
  const NodeRoom room(state);
  bool any_comes = false;
  for (const auto& [name, pool] : state.pools.pools) {
    const int nodes = suits(job, pool.spec) ? nodes_to_come(state, pool) : 0;
    for (const std::string& type : room.types_for(job)) {
      if (room.may_be_of(pool.spec, type)) slots[type] += nodes * (pool.spec.slots_per_node / each * each);
    }
    any_comes = any_comes || nodes > 0;
  }
  const int most = most_of(slots, job.spec.mixed_types);
  if (any_comes && most > why.cluster) why.with_pools = most;
  const int largest = FreeSlots(state).largest_for(job);
  if (most > 0 || largest == 0) return;
  why.each = each;
  why.largest = largest;
}

// Room for groups of its workers, per type: on present nodes and on all nodes that pools may still create.
void tell_pools(const ClusterState& state, const Job& job, reason::DomainsTooSmall& why) {
  if (!why.group) return;
  const NodeRoom room(state);
  std::map<std::string, int> workers;
  for (const auto& [name, pool] : state.pools.pools) {
    const int nodes = suits(job, pool.spec) ? nodes_to_come(state, pool) : 0;
    if (nodes == 0) continue;
    for (const std::string& type : room.types_for(job)) {
      if (room.may_be_of(pool.spec, type)) workers[type] += nodes * room.workers_on_more(job, pool.spec);
    }
  }
  int most = 0;
  for (const auto& [type, more] : workers) {
    Job bound = job;
    if (!job.spec.mixed_types) bound.spec.slot_types = {type};
    most = std::max(most, empty_cluster_capacity(state, bound) + more - more % job.spec.elastic.group);
  }
  if (!workers.empty()) why.with_pools = std::max(why.room, most * job.spec.gpus_per_worker);
}

// Coming nodes; if there are none, a pool that fails to create one.
void tell_coming(const ClusterState& state, const Job& job, reason::NoNodes& why) {
  for (const auto& [name, pool] : state.pools.pools) {
    if (!suits(job, pool.spec)) continue;
    const auto coming = std::count_if(state.pools.nodes.begin(), state.pools.nodes.end(), [&](const auto& entry) {
      return entry.second.pool == pool.spec.name && entry.second.is_coming();
    });
    const bool fails = !pool.retired && pool.backoff.failures > 0;
    if (coming == 0 && (why.coming || !fails)) continue;
    why.coming = static_cast<int>(coming);
    why.word = name;
    if (coming > 0) return;
  }
}

// It may accept workers again: it is away, or closed, and its pool does not release it.
bool may_come_back(const ClusterState& state, const Node& node) {
  const PoolNode* mine = state.pools.find_node(node.id);
  return !state.has_gone(node) && (mine == nullptr || !mine->is_leaving());
}

// No node could come back, and all nodes that pools may have are too few.
std::optional<Reason> beyond_all_pools(const ClusterState& state, const Job& job) {
  const bool any_pool = std::any_of(state.pools.pools.begin(), state.pools.pools.end(),
                                    [](const auto& any) { return !any.second.retired; });
  const bool any_back = std::any_of(state.nodes.begin(), state.nodes.end(),
                                    [&](const auto& any) { return may_come_back(state, any.second); });
  if (!any_pool || any_back) return std::nullopt;
  const Reason never = never_fits(state, job, 0, !job.spec.slot_types.empty());
  if (!is_any_of<reason::NeverFits>(never)) return std::nullopt;
  reason::NeverFits why = *reason_as<reason::NeverFits>(never);
  tell_room(state, job, why);
  return why.with_pools.value_or(0) < why.needed ? std::optional<Reason>(why) : std::nullopt;
}

// Whatever its nodes cost.
bool could_hold(const Job& job, const PoolSpec& pool) {
  return pool.slots_per_node >= job.spec.gpus_per_worker && (!is_choosy(job.spec) || may_run_on(job, node_to_be(pool)));
}

// Price per hour of the cheapest slot that suits the job, on present nodes and those that pools create; none: no slot
// does.
std::optional<Money> cheapest_slot(const ClusterState& state, const Job& job) {
  std::optional<Money> least;
  const auto consider = [&](Money price) { least = least ? std::min(*least, price) : price; };
  for (const auto& [id, node] : state.nodes) {
    if (node.takes_workers() && may_run_on(job, node)) consider(node.price_per_slot_hour);
  }
  for (const auto& [name, pool] : state.pools.pools) {
    if (nodes_to_come(state, pool) > 0 && could_hold(job, pool.spec)) consider(pool.spec.price_per_slot_hour);
  }
  return least;
}

// It could not start on any slots, whatever becomes free.
std::optional<Reason> above_cap(const ClusterState& state, const Job& job) {
  const auto& cap = job.spec.scaling.price_cap;
  const auto least = cap ? cheapest_slot(state, job) : std::nullopt;
  if (!least) return std::nullopt;
  const int slots = job.spec.smallest_slots();
  const Money price = Money::micros(least->count_micros() * slots);
  if (price <= *cap) return std::nullopt;
  return reason::PriceCap{.cap = *cap, .price = price, .slots = slots};
}

// All held slots where the job may run are on nodes that accept no new workers: it gets none of them when they become
// free.
bool is_kept_out_by_closed(const ClusterState& state, const Job& job) {
  bool any_closed = false;
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kUp || node.slots_held() == 0 || !may_run_on(job, node)) continue;
    if (!node.is_closed()) return false;
    any_closed = true;
  }
  return any_closed;
}

bool waits_for_slots(const Reason& reason) {
  return traits_of(reason).blocks == Blocks::kForLackOfSlots ||
         is_any_of<reason::NoNodes, reason::NeverFits, reason::NoNodeMatches, reason::DomainsTooSmall,
                   reason::PriceWait, reason::MeritWait, reason::TurnWait, reason::BehindOlderJob, reason::PriceCap>(
             reason);
}

bool takes_type(const Job& job, const std::string& type) {
  const auto& asked = job.spec.slot_types;
  return asked.empty() || std::find(asked.begin(), asked.end(), type) != asked.end();
}

std::string listed_types(const std::vector<std::string>& types) {
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : " or ") + type;
  return text;
}

}  // namespace

Reason reason_with_wait_bounds(const ClusterState& state, const Job& job, Reason reason) {
  if (job.state() != JobState::kPending || !waits_for_slots(reason)) return reason;
  if (auto capped = above_cap(state, job)) return *std::move(capped);
  if (is_any_of<reason::NoNodes>(reason)) {
    if (auto never = beyond_all_pools(state, job)) return *std::move(never);
  }
  if (const auto* outbid = reason_as<reason::PriceWait>(reason)) {
    const int free = slots_free_for(state, job);
    if (free < job.spec.smallest_slots() && is_kept_out_by_closed(state, job)) {
      return reason::WaitingForSlots{.needed = outbid->needed, .free = free};
    }
  }
  visit_reason(
      [&]<class R>(R& why) {
        if constexpr (std::is_same_v<R, reason::NeverFits>) tell_room(state, job, why);
        if constexpr (std::is_same_v<R, reason::DomainsTooSmall>) tell_pools(state, job, why);
        if constexpr (std::is_same_v<R, reason::NoNodes>) tell_coming(state, job, why);
      },
      reason);
  return reason;
}

void tell_free(const ClusterState& state, const Job& job, reason::NoSlotsToGrow& why) {
  const auto bound = bound_type(state, job);
  const FreeSlots free(state);
  int suited = 0;
  int others = 0;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers()) continue;
    const bool of_type = (!bound || node.slot_type == *bound) && takes_type(job, node.slot_type);
    const int count = static_cast<int>(free.free_on(id));
    if (!of_type) others += count;
    if (of_type && may_run_on(job, node)) suited += count;
  }
  why.free = suited;
  why.of_others = others > 0 ? std::optional(others) : std::nullopt;
  why.word = bound ? *bound : listed_types(job.spec.slot_types);
}

std::vector<std::string> evidence_of_one_type(const ClusterState& state, const Job& job) {
  const SlotCounts slots = slots_there(state, job);
  if (job.spec.mixed_types || slots.size() < 2 || job.spec.smallest_slots() == job.spec.gpus_per_worker) return {};
  std::string text;
  for (const auto& [type, count] : slots) {
    text += (text.empty() ? "" : ", ") + counted(count, "slot") + " of " + (type.empty() ? "an unknown type" : type);
  }
  return {"all its workers must be on slots of one type, and there are " + text};
}

bool fits_if_mixed(const ClusterState& state, const Job& job, RoomIn room) {
  if (job.spec.mixed_types || !has_several_types(state)) return false;
  Job mixed = job;
  mixed.spec.mixed_types = true;
  const int fits = room == RoomIn::kFreeSlots ? FreeSlots(state).room_for(mixed) : empty_cluster_capacity(state, mixed);
  return fits >= job.spec.elastic.sizes.front();
}

}  // namespace tidepool::core
