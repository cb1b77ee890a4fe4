#include "core/state/node_pools.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::core {
namespace {

constexpr Duration kFirstBackoff = Duration::seconds(15);
constexpr int kDoublings = 7;  // to 32 minutes
constexpr int kLeadTimes = 3;
constexpr Duration kAnswersWithin = Duration::seconds(14'400);  // four hours
constexpr Duration kGoesWithin = Duration::seconds(180);  // clouds still list a deleted machine for up to two minutes

}  // namespace

const char* to_text(ProviderFault fault) {
  switch (fault) {
    case ProviderFault::kRefused: return "refused";
    case ProviderFault::kQuota: return "quota";
    case ProviderFault::kTimeout: return "timeout";
    case ProviderFault::kGarbage: return "garbage";
  }
  return "";
}

const char* to_text(PoolNodeState state) {
  switch (state) {
    case PoolNodeState::kAsked: return "asked";
    case PoolNodeState::kCreated: return "created";
    case PoolNodeState::kJoined: return "joined";
    case PoolNodeState::kDraining: return "draining";
    case PoolNodeState::kReleasing: return "releasing";
  }
  return "";
}

void Backoff::fail(Instant at, std::string why) {
  until = at + kFirstBackoff * (std::int64_t{1} << std::min(failures, kDoublings));
  ++failures;
  failed_at = at;
  detail = std::move(why);
}

bool lacks_another(const PoolNode& node, const NodePool& pool) {
  const bool is_of_order = pool.backoff.failures > 0 && pool.failed_order == node.asked_at;
  if (!is_of_order || node.state != PoolNodeState::kJoined || node.was_used) return false;
  return pool.backoff.until - pool.backoff.failed_at <= std::max(pool.spec.idle, pool.spec.lead_time);
}

const NodePool* NodePools::find(const std::string& pool) const {
  const auto found = pools.find(pool);
  return found == pools.end() ? nullptr : &found->second;
}

const PoolNode* NodePools::find_node(NodeRequest request) const {
  const auto found = nodes.find(request);
  return found == nodes.end() ? nullptr : &found->second;
}

const PoolNode* NodePools::find_name(const std::string& name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& any) { return any.second.name == name; });
  return found == nodes.end() ? nullptr : &found->second;
}

const PoolNode* NodePools::find_node(NodeId node) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& any) { return any.second.node == node; });
  return !node || found == nodes.end() ? nullptr : &found->second;
}

void NodePools::set_gone(NodeId node, bool is_gone) {
  const auto at = std::lower_bound(gone.begin(), gone.end(), node);
  const bool is_there = at != gone.end() && *at == node;
  if (is_gone && !is_there) gone.insert(at, node);
  if (!is_gone && is_there) gone.erase(at);
}

bool NodePools::has_gone(NodeId node) const {
  return std::binary_search(gone.begin(), gone.end(), node);
}

bool NodePools::gives_back(NodeId node) const {
  const PoolNode* mine = find_node(node);
  return mine != nullptr ? mine->state == PoolNodeState::kReleasing : has_gone(node);
}

std::map<NodeId, const NodePool*> NodePools::by_node() const {
  std::map<NodeId, const NodePool*> found;
  for (const auto& [request, mine] : nodes) {
    if (mine.node) found.emplace(mine.node, find(mine.pool));
  }
  return found;
}

int NodePools::count(const std::string& pool) const {
  return static_cast<int>(
      std::count_if(nodes.begin(), nodes.end(), [&](const auto& any) { return any.second.pool == pool; }));
}

int NodePools::staying(const std::string& pool) const {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](const auto& any) {
    return any.second.pool == pool && !any.second.is_leaving();
  }));
}

Duration lifetime_notice(const PoolNode& node) {
  const Duration lifetime = *node.ends_at - node.asked_at;
  return std::min(kEmptiedWithin, Duration::micros(std::max<std::int64_t>(0, lifetime.count_us() / 4)));
}

bool nears_its_end(const PoolNode& node, Instant now) {
  return node.ends_at && now >= *node.ends_at - lifetime_notice(node);
}

bool goes_anyway(const PoolNode& node, Instant now) {
  return node.state == PoolNodeState::kReleasing || nears_its_end(node, now);
}

bool outstays(const PoolNode& node, const PoolSpec& spec, Instant now) {
  return node.ended_at && now - *node.ended_at >= std::max(kGoesWithin, spec.lead_time);
}

Duration join_patience(const PoolSpec& spec) {
  return spec.lead_time * kLeadTimes + Duration::seconds(30);
}

Instant joins_by(const PoolNode& node, const PoolSpec& spec) {
  const Duration unanswered = node.state == PoolNodeState::kAsked ? kAnswersWithin : Duration();
  return node.since + unanswered + join_patience(spec);
}

}  // namespace tidepool::core
