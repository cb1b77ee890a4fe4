#include "sim/pool_provider.hpp"

#include <algorithm>
#include <utility>

#include "base/digest.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/provision/provision_stage.hpp"

namespace tidepool::sim {
namespace {

constexpr Duration kCall = Duration::seconds(1);        // of each call of a provider
constexpr Duration kListEvery = Duration::seconds(30);  // as a daemon asks what there is

std::string id_of(core::NodeRequest request) {
  return "i-" + std::to_string(request);
}

}  // namespace

PoolProvider::PoolProvider(PoolSetup setup, std::uint64_t seed, Hands hands)
    : setup_(std::move(setup)), seed_(seed), hands_(std::move(hands)) {}

core::PoolsConfigured PoolProvider::begin_life() {
  core::PoolsConfigured configured{.spot_share = setup_.spot_share, .pools = {}};
  for (const PoolModel& pool : setup_.pools) configured.pools.push_back(pool.spec);
  return configured;
}

void PoolProvider::end_life() {
  ++life_;
  creating_.clear();
  deleting_.clear();
  list_is_due_ = false;
}

void PoolProvider::look(const core::ClusterState& state, Instant now) {
  for (const auto& [request, node] : state.pools.nodes) {
    if (node.state == core::PoolNodeState::kAsked && creating_.insert(request).second) {
      hands_.later(now + kCall, CreateEnds{life_of(node), life_});
    }
    const bool ends =
        node.state == core::PoolNodeState::kReleasing && !node.delete_answered && !node.backoff.holds(now);
    if (ends && deleting_.insert(request).second) hands_.later(now + kCall, DeleteEnds{request, life_});
  }
  if (state.pools.nodes.empty() && machines_.empty()) return;
  if (!std::exchange(list_is_due_, true)) hands_.later(now + kListEvery, ListDue{life_});
}

PoolProvider::Reports PoolProvider::happen(const PoolEvent& event, const core::ClusterState* state, Instant now) {
  return std::visit([&](const auto& any) { return on(any, state, now); }, event);
}

// A failure is drawn anew with each number only: a call that is made again has the same end.
PoolProvider::Reports PoolProvider::on(const CreateEnds& event, const core::ClusterState*, Instant now) {
  const core::NodeRequest request = event.node.request;
  Rng draws = draws_of(request);
  const PoolModel& pool = model(event.node.pool);
  const bool fails = draws.chance(pool.create_fails);
  const bool answers = !fails || draws.chance(0.5);
  const bool joins = !draws.chance(pool.never_joins);
  // A provider that has said no has made nothing; one that has not answered may have.
  if (!fails || !answers) make_machine(event.node, draws.fork(), joins, now);
  if (event.life != life_) return {};
  creating_.erase(request);
  if (!fails) return {core::PoolNodeCreated{request, id_of(request), {}}};
  if (answers) return {core::PoolNodeCreateFailed{request, core::ProviderFault::kQuota, "no capacity"}};
  return {core::PoolNodeCreateFailed{request, core::ProviderFault::kTimeout, "no answer"}};
}

PoolProvider::Reports PoolProvider::on(const DeleteEnds& event, const core::ClusterState* state, Instant now) {
  end_machine(event.request, now);
  if (event.life != life_ || state == nullptr) return {};
  deleting_.erase(event.request);
  Reports reports{core::PoolNodeDeleted{event.request}};
  list(*state, now, reports);
  return reports;
}

PoolProvider::Reports PoolProvider::on(const MachineBoots& event, const core::ClusterState*, Instant now) {
  const auto found = machines_.find(event.request);
  if (found == machines_.end()) return {};
  Machine& machine = found->second;
  const PoolModel& pool = model(machine.life.pool);
  machine.life.joined = true;
  const std::string& type = pool.spec.slot_type;
  machine.node = hands_.switch_on(machine.life.name, {.slots = pool.spec.slots_per_node,
                                                      .slot_type = type.empty() ? NodeKind().slot_type : type,
                                                      .speed = pool.speed});
  if (pool.reclaim_every <= Duration()) return {};
  Rng draws(draws_of(event.request).next());
  hands_.later(now + Duration::from_seconds(draws.exponential(pool.reclaim_every.to_seconds())),
               ReclaimTold{event.request});
  return {};
}

PoolProvider::Reports PoolProvider::on(const ReclaimTold& event, const core::ClusterState*, Instant now) {
  const auto found = machines_.find(event.request);
  if (found == machines_.end()) return {};
  const Instant ends = now + model(found->second.life.pool).reclaim_notice;
  hands_.give_notice(found->second.node, ends);
  hands_.later(ends, MachineTaken{event.request});
  return {};
}

PoolProvider::Reports PoolProvider::on(const MachineTaken& event, const core::ClusterState*, Instant now) {
  end_machine(event.request, now);
  return {};
}

PoolProvider::Reports PoolProvider::on(const ListDue& event, const core::ClusterState* state, Instant now) {
  Reports reports;
  if (event.life != life_ || state == nullptr) return reports;
  list_is_due_ = false;
  list(*state, now, reports);
  look(*state, now);
  return reports;
}

void PoolProvider::list(const core::ClusterState& state, Instant now, Reports& reports) const {
  for (const PoolModel& pool : setup_.pools) {
    core::PoolListed listed{
        .pool = pool.spec.name, .asked_before = state.pools.next_request, .nodes = {}, .begun_at = now};
    for (const auto& [request, machine] : machines_) {
      if (machine.life.pool == pool.spec.name) listed.nodes.push_back({request, id_of(request), {}});
    }
    if (core::is_news(state, listed, now)) reports.emplace_back(std::move(listed));
  }
}

void PoolProvider::make_machine(const NodeLife& life, Rng draws, bool joins, Instant now) {
  if (!machines_.emplace(life.request, Machine{.life = life}).second || !joins) return;
  const PoolModel& pool = model(life.pool);
  const double times = 1 + pool.lead_spread * (2 * draws.uniform() - 1);
  const Instant there = life.asked + Duration::from_seconds(pool.spec.lead_time.to_seconds() * times);
  hands_.later(std::max(now, there), MachineBoots{life.request});
}

void PoolProvider::end_machine(core::NodeRequest request, Instant now) {
  const auto found = machines_.find(request);
  if (found == machines_.end()) return;
  Machine machine = found->second;
  machines_.erase(found);
  machine.life.gone = now;
  ended_.push_back(machine.life);
  if (machine.node >= 0) hands_.take_away(machine.node);
}

bool PoolProvider::at_rest(const core::ClusterState& state) const {
  const auto is_small = [&](const auto& any) {
    const core::PoolSpec& spec = any.second.spec;
    const core::PoolTarget* wish = state.deployment.answer_for(any.first);
    return state.pools.count(any.first) <= (wish == nullptr ? spec.min : core::wanted_of(*wish, spec));
  };
  return machines_.size() == state.pools.nodes.size() &&
         std::all_of(state.pools.pools.begin(), state.pools.pools.end(), is_small);
}

std::vector<NodeLife> PoolProvider::lives(Instant now) const {
  std::vector<NodeLife> all = ended_;
  for (const auto& [request, machine] : machines_) {
    all.push_back(machine.life);
    all.back().gone = now;
  }
  std::sort(all.begin(), all.end(), [](const NodeLife& a, const NodeLife& b) { return a.request < b.request; });
  return all;
}

const PoolModel& PoolProvider::model(const std::string& pool) const {
  return *std::find_if(setup_.pools.begin(), setup_.pools.end(),
                       [&](const PoolModel& any) { return any.spec.name == pool; });
}

Rng PoolProvider::draws_of(core::NodeRequest request) const {
  return Rng(Digest().mix(seed_).mix(request).value());
}

NodeLife PoolProvider::life_of(const core::PoolNode& node) const {
  const core::PoolSpec& spec = model(node.pool).spec;
  return {.pool = node.pool,
          .name = node.name,
          .request = node.request,
          .asked = node.asked_at,
          .slots = spec.slots_per_node,
          .price_per_slot_hour = spec.price_per_slot_hour};
}

}  // namespace tidepool::sim
