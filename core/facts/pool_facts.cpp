#include "core/facts/pool_facts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/byte_size.hpp"
#include "base/overloaded.hpp"
#include "core/facts/drain_facts.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/price_facts.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/listed_price.hpp"

namespace tidepool::core {
namespace {

constexpr Duration kListLag = Duration::seconds(30);      // a node created a moment ago may not be listed yet
constexpr Duration kLastMoments = Duration::seconds(30);  // for workers on a released node that comes back
constexpr Duration kSameEnd = Duration::seconds(10);      // clocks and calls make repeated reports differ slightly

nlohmann::json data_of(const PoolNode& node) {
  return {{"pool", node.pool}, {"name", node.name}, {"request", node.request}, {"provider_id", node.provider_id}};
}

void emit(StateChange& change, const char* type, const PoolNode& node,
          const nlohmann::json& more = nlohmann::json::object()) {
  auto data = data_of(node);
  data.update(more);
  const Node* joined = change.state().find_node(node.node);
  if (joined != nullptr) {
    change.emit(type, *joined, std::move(data));
  } else {
    change.emit(type, std::move(data));
  }
}

void become(StateChange& change, PoolNode& node, PoolNodeState state) {
  node.state = state;
  node.since = change.at();
}

void drop_if_empty(NodePools& pools, const std::string& name) {
  const auto pool = pools.pools.find(name);
  if (pool != pools.pools.end() && pool->second.retired && pools.count(name) == 0) pools.pools.erase(pool);
}

void drop(StateChange& change, NodeRequest request) {
  NodePools& pools = change.state().pools;
  const std::string pool = pools.nodes.at(request).pool;
  pools.nodes.erase(request);
  pools.forgotten_at = change.at();
  drop_if_empty(pools, pool);
}

PoolNode* find(StateChange& change, NodeRequest request) {
  return change.state().pools.nodes.edit_if_there(request);
}

NodePool& pool_of(StateChange& change, const PoolNode& node) {
  return change.state().pools.pools.at(node.pool);
}

// Its machine no longer exists: that is the proof of death of its workers.
void forget(StateChange& change, NodeRequest request, const char* why) {
  const PoolNode gone = change.state().pools.nodes.at(request);
  emit(change, "pool.node_gone", gone, {{"why", why}});
  prices_until_now(change);
  drop(change, request);
  const Node* known = change.state().find_node(gone.node);
  if (known != nullptr) change.state().pools.set_gone(gone.node, true);
  reprice(change, gone.node);
  if (known == nullptr || known->state == NodeState::kUp) return;
  remove_exited_workers(change, workers_on(*known), {.detail = "its node has ended at its provider"});
  change.node(gone.node).drain.reset();
  change.capacity_changed();
}

void create_failed(StateChange& change, const PoolNode& node, std::string_view fault, const std::string& detail) {
  NodePool& pool = pool_of(change, node);
  const bool same_attempt = pool.backoff.failures > 0 && node.asked_at <= pool.backoff.failed_at;
  if (same_attempt) {
    pool.backoff.detail = detail;
  } else {
    pool.backoff.fail(change.at(), detail);
  }
  pool.failed_order = node.is_coming() ? std::optional(node.asked_at) : std::nullopt;
  emit(change, "pool.create_failed", node,
       {{"fault", fault},
        {"detail", detail},
        {"failures", pool.backoff.failures},
        {"again_in_seconds", (pool.backoff.until - change.at()).to_seconds()}});
  note_outside_change(change);
}

void forget_list_failures(NodePool& pool) {
  pool.list_backoff = {};
  pool.list_fails_since.reset();
}

Status check_spec(const PoolSpec& spec) {
  const auto wrong = [&](const char* what) { return invalid_argument("pool \"" + spec.name + "\": " + what); };
  if (spec.name.empty()) return invalid_argument("a pool needs a name");
  if (spec.slots_per_node < 1) return wrong("its nodes need at least one slot");
  if (spec.memory_per_slot.value_or(1) < 1) return wrong("memory_per_slot is above zero");
  if (spec.min < 0 || spec.max < spec.min) return wrong("min is from 0 to max");
  if (spec.idle < Duration() || spec.lead_time < Duration()) return wrong("times are not negative");
  if (spec.worth_per_slot_hour < spec.price_per_slot_hour) return wrong("a slot is worth at least its price");
  return ok_status();
}

// In rows of earlier versions a node missing in a list was gone, and each repeated end was an event.
bool has_old_rules(const PoolListed& fact) {
  return !fact.begun_at;
}

bool is_known_end(const PoolNode& node, Instant end) {
  return node.ends_at && end - *node.ends_at < kSameEnd && *node.ends_at - end < kSameEnd;
}

// Handles what the list says about a node that it contains.
void see(StateChange& change, PoolNode& node, const PoolListed::Entry& entry) {
  if (!entry.provider_id.empty()) node.provider_id = entry.provider_id;
  if (entry.lifetime) {
    const Instant end = change.at() + *entry.lifetime;
    if (!is_known_end(node, end)) node.ends_at = end;
  }
  if (node.state == PoolNodeState::kAsked) {
    become(change, node, PoolNodeState::kCreated);
    emit(change, "pool.node_created", node);
  }
}

// No request matches. A list that was begun before some node was forgotten may still contain that node, even one of
// another pool with the same provider: the next list decides.
bool is_unknown(const NodePools& pools, const PoolListed& fact, NodeRequest request) {
  if (request == 0 || pools.find_node(request) != nullptr) return false;
  const bool may_be_late = fact.begun_at && pools.forgotten_at && *pools.forgotten_at >= *fact.begun_at;
  return !may_be_late || request >= pools.next_request;
}

// The list contains a node whose end was confirmed: deletion is ordered once more.
void end_again(StateChange& change, const PoolListed& fact, PoolNode& node) {
  const bool is_due = node.state == PoolNodeState::kReleasing && node.delete_answered;
  if (!is_due || node.backoff.holds(change.at())) return;
  node.delete_answered = false;
  if (!node.ended_at) node.ended_at = node.since;  // in a state of an earlier version
  if (!has_old_rules(fact) && !outstays(node, pool_of(change, node).spec, change.at())) return;
  emit(change, "pool.bill_runs_on", node, {{"attempts", node.backoff.failures}});
}

// Its workers may have been granted time beyond the end that its provider now reports.
void hasten_drain(StateChange& change, const PoolNode& node) {
  const Node* joined = change.state().find_node(node.node);
  const bool is_drained = node.state == PoolNodeState::kDraining && joined != nullptr && joined->drain;
  if (!is_drained || !node.ends_at || !joined->drain->asked) return;
  const Instant latest = std::max(change.at(), *node.ends_at - kEndMargin);
  if (*joined->drain->asked > latest) ask_drain(change, node.node, latest, "its provider ends it sooner");
}

// What it means that the node is missing in the list: nothing yet, or miss().
bool is_lacking(const ClusterState& state, const PoolListed& fact, const PoolNode& node, Instant now) {
  const Node* joined = state.find_node(node.node);
  switch (node.state) {
    case PoolNodeState::kAsked: return false;
    case PoolNodeState::kCreated: return now - node.since >= kListLag;
    case PoolNodeState::kJoined:
    case PoolNodeState::kDraining: return joined != nullptr && joined->state != NodeState::kUp;
    case PoolNodeState::kReleasing: return node.delete_answered || has_old_rules(fact);
  }
  return false;
}

// Nodes that the list should contain, and does not.
std::vector<NodeRequest> unlisted_in(const ClusterState& state, const PoolListed& fact) {
  std::set<NodeRequest> listed;
  for (const auto& entry : fact.nodes) listed.insert(entry.request);
  std::vector<NodeRequest> unlisted;
  for (const auto& [request, node] : state.pools.nodes) {
    const bool is_told = node.pool == fact.pool && request < fact.asked_before;
    if (is_told && !listed.contains(request)) unlisted.push_back(request);
  }
  return unlisted;
}

// A list may be incomplete: a node that has not joined is deleted before it is forgotten.
void end_vanished(StateChange& change, PoolNode& node) {
  create_failed(change, node, "vanished", "the provider no longer lists it, and its agent has not joined");
  become(change, node, PoolNodeState::kReleasing);
}

void miss(StateChange& change, const PoolListed& fact, PoolNode& node) {
  switch (node.state) {
    case PoolNodeState::kAsked: return;
    case PoolNodeState::kCreated:
      end_vanished(change, node);
      if (has_old_rules(fact)) forget(change, node.request, "the provider no longer lists it");
      return;
    case PoolNodeState::kJoined:
    case PoolNodeState::kDraining:
      note_outside_change(change);
      return forget(change, node.request, "its provider has ended it");
    case PoolNodeState::kReleasing: return forget(change, node.request, "given back");
  }
}

void apply(StateChange& change, const CreateNodeIntent& intent, const Reason& reason) {
  NodePools& pools = change.state().pools;
  PoolNode node{.request = intent.request, .pool = intent.pool, .name = intent.name};
  node.asked_at = node.since = change.at();
  pools.next_request = intent.request + 1;
  pools.nodes.emplace(intent.request, node);
  emit(change, "pool.node_asked", node, {{"reason", reason_data(reason)}});
}

void close(StateChange& change, const PoolNode& planned, Instant deadline, const char* why) {
  if (change.state().find_node(planned.node) != nullptr) ask_drain(change, planned.node, deadline, why);
}

// The pool did not want to shrink when its provider ends the node: the node's workers may need another.
void settle(StateChange& change, const PoolNode& node) {
  if (nears_its_end(node, change.at())) return note_outside_change(change);
  pool_of(change, node).settled_at = change.state().pools.changes;
}

void apply(StateChange& change, const EmptyNodeIntent& intent, const Reason& reason) {
  PoolNode& node = *find(change, intent.request);
  become(change, node, PoolNodeState::kDraining);
  settle(change, node);
  close(change, node, change.at() + intent.within, "its pool gives it back");
  emit(change, "pool.node_emptying", node, {{"seconds", intent.within.to_seconds()}, {"reason", reason_data(reason)}});
}

// The operator or provider takes the node out, without the pool wanting to shrink. Not for a node that its pool empties
// itself, and not for a window, which may also apply to each node that comes in its place.
bool is_taken_out(const ClusterState& state, const PoolNode& planned) {
  const Node* node = state.find_node(planned.node);
  return planned.state == PoolNodeState::kJoined && node != nullptr && node->drain &&
         (node->drain->asked || node->drain->reclaim);
}

void never_joined(StateChange& change, const PoolNode& node) {
  NodePool& pool = pool_of(change, node);
  pool.backoff.fail(change.at(), "no agent has joined from " + node.name);
  pool.failed_order = node.asked_at;
}

void apply(StateChange& change, const ReleaseNodeIntent& intent, const Reason& reason) {
  PoolNode& node = *find(change, intent.request);
  const bool is_taken = is_taken_out(change.state(), node);
  become(change, node, PoolNodeState::kReleasing);
  node.backoff = {};
  if (intent.failed) never_joined(change, node);
  if (intent.failed || is_taken) {
    note_outside_change(change);
  } else {
    settle(change, node);
  }
  close(change, node, change.at() + kLastMoments, "its provider is told to end it");
  emit(change, "pool.node_released", node, {{"reason", reason_data(reason)}});
}

}  // namespace

Status apply(StateChange& change, const PoolsConfigured& fact) {
  if (!(fact.spot_share >= 0 && fact.spot_share <= 1)) return invalid_argument("spot_share is from 0 to 1");
  std::set<std::string> names;
  for (const PoolSpec& spec : fact.pools) {
    TP_TRY(check_spec(spec));
    if (!names.insert(spec.name).second) return invalid_argument("two pools are called \"" + spec.name + "\"");
  }
  prices_until_now(change);
  restore_own_prices_of_pools(change);
  NodePools& pools = change.state().pools;
  const NodePools before = pools;
  pools.spot_share = fact.spot_share;
  for (const PoolSpec& spec : fact.pools) {
    NodePool& pool = pools.pools[spec.name];
    pool.spec = spec;
    pool.retired = false;
  }
  for (auto& [name, pool] : pools.pools) {
    if (names.contains(name)) continue;
    pool.retired = true;
    forget_list_failures(pool);  // its nodes are no longer listed
    pool.spec.min = pool.spec.max = 0;
  }
  for (const auto& [name, pool] : before.pools) drop_if_empty(pools, name);
  const bool differs = pools != before;
  reprice(change);
  if (!differs) return ok_status();
  note_outside_change(change);
  change.emit("pool.configured", {{"pools", std::vector<std::string>(names.begin(), names.end())}});
  return ok_status();
}

Status apply(StateChange& change, const PoolNodeCreated& fact) {
  PoolNode* node = find(change, fact.request);
  if (node == nullptr) return ok_status();
  see(change, *node, {.request = fact.request, .provider_id = fact.provider_id, .lifetime = fact.lifetime});
  return ok_status();
}

Status apply(StateChange& change, const PoolNodeCreateFailed& fact) {
  PoolNode* node = find(change, fact.request);
  if (node == nullptr || node->state != PoolNodeState::kAsked) return ok_status();
  create_failed(change, *node, to_text(fact.fault), fact.detail);
  const bool may_be_there = fact.fault == ProviderFault::kTimeout || fact.fault == ProviderFault::kGarbage;
  if (may_be_there) {
    become(change, *node, PoolNodeState::kReleasing);
  } else {
    drop(change, fact.request);
  }
  return ok_status();
}

Status apply(StateChange& change, const PoolNodeDeleted& fact) {
  PoolNode* node = find(change, fact.request);
  if (node == nullptr || node->state != PoolNodeState::kReleasing) return ok_status();
  node->delete_answered = true;
  if (!node->ended_at) node->ended_at = change.at();
  node->backoff.fail(change.at(), "its provider has ended it, and lists it still");
  return ok_status();
}

Status apply(StateChange& change, const PoolNodeDeleteFailed& fact) {
  PoolNode* node = find(change, fact.request);
  if (node == nullptr || node->state != PoolNodeState::kReleasing) return ok_status();
  node->backoff.fail(change.at(), fact.detail);
  emit(change, "pool.delete_failed", *node,
       {{"fault", to_text(fact.fault)},
        {"detail", fact.detail},
        {"failures", node->backoff.failures},
        {"again_in_seconds", (node->backoff.until - change.at()).to_seconds()}});
  return ok_status();
}

Status apply(StateChange& change, const PoolListed& fact) {
  NodePools& pools = change.state().pools;
  if (pools.find(fact.pool) == nullptr) return ok_status();
  forget_list_failures(pools.pools.at(fact.pool));
  for (const auto& entry : fact.nodes) {
    PoolNode* node = find(change, entry.request);
    if (node != nullptr) {
      see(change, *node, entry);
      if (!has_old_rules(fact)) hasten_drain(change, *node);
      end_again(change, fact, *node);
    } else if (is_unknown(pools, fact, entry.request)) {
      PoolNode& found = pools.nodes[entry.request];
      found = {.request = entry.request, .pool = fact.pool, .asked_at = change.at(), .since = change.at()};
      found.state = PoolNodeState::kReleasing;
      found.provider_id = entry.provider_id;
      pools.next_request = std::max(pools.next_request, entry.request + 1);
      emit(change, "pool.node_unknown", found);
    }
  }
  for (const NodeRequest request : unlisted_in(change.state(), fact)) {
    PoolNode& node = *find(change, request);
    if (is_lacking(change.state(), fact, node, change.at())) miss(change, fact, node);
  }
  return ok_status();
}

Status apply(StateChange& change, const PoolListFailed& fact) {
  if (change.state().pools.find(fact.pool) == nullptr) return ok_status();
  NodePool& pool = change.state().pools.pools.at(fact.pool);
  pool.list_backoff.fail(change.at(), fact.detail);
  if (!pool.list_fails_since) pool.list_fails_since = change.at();
  change.emit("pool.list_failed", {{"pool", fact.pool}, {"fault", to_text(fact.fault)}, {"detail", fact.detail}});
  return ok_status();
}

void note_outside_change(StateChange& change) {
  NodePools& pools = change.state().pools;
  if (pools.pools.empty()) return;
  ++pools.changes;
  pools.changed_at = change.at();
}

void join_pool(StateChange& change, Node& node, int slots) {
  NodePools& pools = change.state().pools;
  const PoolNode* named = pools.find_name(node.name);
  if (named == nullptr) return;
  PoolNode& mine = pools.nodes.edit(named->request);
  const PoolSpec& spec = pool_of(change, mine).spec;
  if (!spec.slot_type.empty()) node.slot_type = spec.slot_type;
  set_own_price(change, node, own_price(change.state(), spec));
  mine.node = node.id;
  if (mine.state == PoolNodeState::kReleasing) {
    ask_drain(change, node.id, change.at() + kLastMoments, "its provider is told to end it");
  }
  if (!mine.is_coming()) return;
  node.drain.reset();
  node.cordoned = false;  // set for an earlier machine of this name
  node.labels_set.clear();
  node.faults.reset();
  Backoff& backoff = pool_of(change, mine).backoff;
  if (backoff.failed_at < mine.asked_at) backoff = {};
  become(change, mine, PoolNodeState::kJoined);
  emit(change, "pool.node_joined", mine, {{"seconds", (change.at() - mine.asked_at).to_seconds()}});
  // Otherwise a gang that still needs another node would order one node after another.
  if (slots < spec.slots_per_node) {
    return create_failed(change, mine, "too_few_slots",
                         node.name + " has " + std::to_string(slots) + " of the " +
                             std::to_string(spec.slots_per_node) + " slots that slots_per_node says");
  }
  const std::int64_t memory = node.memory_per_slot.value_or(0);
  if (memory == 0 || memory >= spec.memory_per_slot.value_or(0)) return;
  create_failed(change, mine, "too_little_memory",
                node.name + " has " + rounded_byte_size(memory) + " of memory per slot, and memory_per_slot says " +
                    rounded_byte_size(*spec.memory_per_slot));
}

void follow_pool_use(StateChange& change) {
  if (change.written_nodes().empty()) return;
  std::vector<NodeRequest> written;
  for (const auto& [request, mine] : change.state().pools.nodes) {
    if (change.written_nodes().contains(mine.node)) written.push_back(request);
  }
  for (const NodeRequest request : written) {
    PoolNode& mine = change.state().pools.nodes.edit(request);
    const Node* node = change.state().find_node(mine.node);
    if (node == nullptr) continue;
    const bool is_empty = std::none_of(node->owners.begin(), node->owners.end(), [](WorkerId id) { return bool(id); });
    const auto follow = [&](std::optional<Instant>& since, bool holds) {
      if (!holds) since.reset();
      if (holds && !since) since = change.at();
    };
    follow(mine.idle_since, is_empty && node->state == NodeState::kUp);
    follow(mine.away_since, node->state != NodeState::kUp);
    mine.was_used = mine.was_used || !is_empty;
  }
}

void keep_pool_node(StateChange& change, NodeId node) {
  NodePools& pools = change.state().pools;
  const PoolNode* mine = pools.find_node(node);
  if (mine == nullptr || mine->state != PoolNodeState::kDraining) return;
  become(change, pools.nodes.edit(mine->request), PoolNodeState::kJoined);
}

void forget_pool_node(StateChange& change, NodeId node) {
  if (const PoolNode* mine = change.state().pools.find_node(node)) drop(change, mine->request);
}

void apply_nodes(StateChange& change, const std::vector<PlannedNode>& nodes) {
  for (const auto& planned : nodes) {
    std::visit([&](const auto& intent) { apply(change, intent, planned.reason); }, planned.intent);
  }
}

bool is_news(const ClusterState& state, const PoolListFailed& fact, Instant now) {
  const NodePool* pool = state.pools.find(fact.pool);
  return pool == nullptr || !pool->list_backoff.holds(now);
}

bool is_news(const ClusterState& state, const PoolListed& fact, Instant now) {
  const NodePool* pool = state.pools.find(fact.pool);
  if (pool != nullptr && pool->list_fails_since) return true;
  for (const auto& entry : fact.nodes) {
    const PoolNode* node = state.pools.find_node(entry.request);
    if (node == nullptr && !is_unknown(state.pools, fact, entry.request)) continue;
    if (node == nullptr || node->state == PoolNodeState::kAsked) return true;
    if (!entry.provider_id.empty() && entry.provider_id != node->provider_id) return true;
    if (entry.lifetime && !is_known_end(*node, now + *entry.lifetime)) return true;
    const bool was_told = node->state == PoolNodeState::kReleasing && node->delete_answered;
    if (was_told && !node->backoff.holds(now)) return true;
  }
  const std::vector<NodeRequest> unlisted = unlisted_in(state, fact);
  return std::any_of(unlisted.begin(), unlisted.end(), [&](NodeRequest request) {
    const PoolNode& node = *state.pools.find_node(request);
    // The answer to the first deletion call may still be on its way.
    const bool may_have_ended = node.state == PoolNodeState::kReleasing && node.backoff.failures == 0;
    return may_have_ended || is_lacking(state, fact, node, now);
  });
}

}  // namespace tidepool::core
