#include "core/facts/pool_books.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/state/budget_hold.hpp"

namespace tidepool::core {
namespace {

void count_node(std::vector<std::int64_t>& nodes, int slots, int sign) {
  const auto at = static_cast<std::size_t>(slots);
  if (nodes.size() <= at) nodes.resize(at + 1);
  nodes[at] += sign;
}

void add_slots(UnheldSlots& sum, Money price, std::int64_t slots) {
  sum.slots += slots;
  sum.rate += Money::micros(price.count_micros() * slots);
}

std::int64_t workers_that_fit(const std::vector<std::int64_t>& nodes, int slots_each) {
  std::int64_t workers = 0;
  for (std::size_t slots = 0; slots < nodes.size(); ++slots) {
    workers += nodes[slots] * (static_cast<std::int64_t>(slots) / slots_each);
  }
  return workers;
}

// The job would start if it had slots.
bool would_take_slots(const Job& job) {
  return job.state() == JobState::kPending && !is_withheld(job) && !job.requests.cancel &&
         job.verdict.blocked.on != BlockedOn::kClusterSize;
}

}  // namespace

PoolBooks::PoolBooks(ClusterState& state) {
  for (const auto& [id, node] : state.nodes) replace(nodes_, id, entry_of(state, id));
  for (const auto& [id, job] : state.jobs) replace(jobs_, id, entry_of(state, id));
  tell(state, state.now);
}

void PoolBooks::settle(ClusterState& state, const IdSet<JobId>& jobs, const IdSet<NodeId>& nodes, Instant at) {
  bool is_other = false;
  for (const NodeId id : nodes) is_other = replace(nodes_, id, entry_of(state, id)) || is_other;
  for (const JobId id : jobs) is_other = replace(jobs_, id, entry_of(state, id)) || is_other;
  if (is_other) tell(state, at);
}

std::optional<PoolBooks::NodeEntry> PoolBooks::entry_of(const ClusterState& state, NodeId id) {
  const Node* node = state.find_node(id);
  if (node == nullptr || node->state != NodeState::kUp) return std::nullopt;
  NodeEntry entry{.type = node->slot_type, .price = node->price_per_slot_hour};
  const bool takes_workers = node->takes_workers();
  if (takes_workers) entry.size = static_cast<int>(node->owners.size());
  WorkerId last;  // the slots of one worker are mostly adjacent
  bool is_gone = false;
  for (const WorkerId owner : node->owners) {
    if (owner && owner != last) is_gone = state.find_worker(owner)->is_gone();
    last = owner;
    if (!owner) {
      ++(takes_workers ? entry.open : entry.closed);
    } else if (is_gone) {
      ++entry.closed;  // no job is charged for it
    }
  }
  return entry;
}

std::optional<PoolBooks::JobEntry> PoolBooks::entry_of(const ClusterState& state, JobId id) {
  const Job* job = state.find_job(id);
  if (job == nullptr || !would_take_slots(*job)) return std::nullopt;
  const BlockedOn on = job->verdict.blocked.on;
  return JobEntry{.asking = {.types = job->spec.slot_types,
                             .slots_each = job->spec.gpus_per_worker,
                             .mixed = job->spec.mixed_types},
                  .workers = job->spec.elastic.sizes.front(),
                  .is_found = on == BlockedOn::kSlots || on == BlockedOn::kNodesCleared};
}

template <class Id, class Entry>
bool PoolBooks::replace(IdTable<Id, Entry>& entries, Id id, const std::optional<Entry>& entry) {
  const auto known = entries.find(id);
  const bool is_known = known != entries.end();
  if (is_known ? (entry && *entry == known->second) : !entry) return false;
  if (is_known) add(known->second, -1);
  if (entry) {
    add(*entry, 1);
    entries[id] = *entry;
  } else {
    entries.erase(id);
  }
  return true;
}

void PoolBooks::add(const NodeEntry& entry, int sign) {
  Type& type = types_[entry.type];
  add_slots(type.open, entry.price, std::int64_t{sign} * entry.open);
  add_slots(type.closed, entry.price, std::int64_t{sign} * entry.closed);
  count_node(type.nodes_by_open, entry.open, sign);
  count_node(type.nodes_by_size, entry.size, sign);
}

void PoolBooks::add(const JobEntry& entry, int sign) {
  Waiting& waiting = waiting_[entry.asking];
  waiting.found += entry.is_found ? sign : 0;
  std::int64_t& jobs = waiting.jobs_by_workers[entry.workers];
  jobs += sign;
  if (jobs == 0) waiting.jobs_by_workers.erase(entry.workers);
  if (waiting.jobs_by_workers.empty()) waiting_.erase(entry.asking);
}

std::int64_t PoolBooks::room(const Asking& asking, std::vector<std::int64_t> Type::* nodes) const {
  std::int64_t most = 0;
  std::int64_t all = 0;
  const auto look_at = [&](const Type& type) {
    const std::int64_t workers = workers_that_fit(type.*nodes, asking.slots_each);
    most = std::max(most, workers);
    all += workers;
  };
  for (const std::string& name : asking.types) {
    if (const auto type = types_.find(name); type != types_.end()) look_at(type->second);
  }
  if (asking.types.empty()) {
    for (const auto& [name, type] : types_) look_at(type);
  }
  return asking.mixed ? all : most;
}

bool PoolBooks::lacks_room(const Asking& asking, const Waiting& waiting) const {
  const auto above = waiting.jobs_by_workers.upper_bound(
      static_cast<int>(std::min<std::int64_t>(room(asking, &Type::nodes_by_size), INT32_MAX)));
  if (above == waiting.jobs_by_workers.begin()) return false;  // none would fit if all slots were free
  return waiting.found > 0 || std::prev(above)->first > room(asking, &Type::nodes_by_open);
}

void PoolBooks::tell(ClusterState& state, Instant at) const {
  std::set<std::string> fragmented;
  bool are_all = false;
  for (const auto& [asking, waiting] : waiting_) {
    if (!lacks_room(asking, waiting)) continue;
    fragmented.insert(asking.types.begin(), asking.types.end());
    are_all = are_all || asking.types.empty();
  }
  auto types = state.pool_ledger.types;
  for (auto& [name, parts] : types) {
    for (const PoolClass each : kPoolClasses) parts[each].now = {};
  }
  for (const auto& [name, type] : types_) {
    auto& parts = types[name];
    const bool is_fragmented = are_all || fragmented.contains(name);
    parts[is_fragmented ? PoolClass::kFragmentation : PoolClass::kFree].now = type.open;
    parts[PoolClass::kUnavailable].now = type.closed;
  }
  if (types == state.pool_ledger.types) return;
  state.pool_ledger.count_until(at, state.utc_us_at_zero);
  for (const auto& [name, parts] : types) {
    auto& told = state.pool_ledger.types[name];
    for (const PoolClass each : kPoolClasses) told[each].now = parts[each].now;
  }
}

}  // namespace tidepool::core
