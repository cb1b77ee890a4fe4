// Nodes of pools in a run: what their providers do in the world, and what the daemon is told of it.
#include "base/overloaded.hpp"
#include "sim/simulator.hpp"

namespace tidepool::sim {

std::optional<PoolProvider> Simulator::make_provider() {
  if (setup_.pools.pools.empty()) return std::nullopt;
  return PoolProvider(
      setup_.pools, setup_.seed,
      {.later = [this](Instant at, PoolEvent event) { heap_.push(at, std::move(event)); },
       .switch_on = [this](const std::string& name, const NodeKind& kind) { return switch_on(name, kind); },
       .take_away =
           [this](int node) {
             fleet_.remove(node, now_);
             lose_link_unless_reachable(node);
           },
       .give_notice = [this](int node, Instant ends) { fleet_.give_notice(node, ends, now_); }});
}

void Simulator::begin_pools() {
  if (provider_) feed({leader::PoolReport(provider_->begin_life())});
}

// Its links must be there before its agent looks for the daemon.
int Simulator::switch_on(const std::string& name, const NodeKind& kind) {
  links_.emplace_back();
  newest_of_name_[name] = fleet_.nodes();
  return fleet_.add(name, kind, now_);
}

// A name is given again once the daemon knows that its machine is gone: what is still said of that one is old.
bool Simulator::is_superseded(int node) const {
  const auto newest = newest_of_name_.find(fleet_.name(node));
  return newest != newest_of_name_.end() && newest->second != node;
}

void Simulator::on(const PoolEvent& event) {
  const core::ClusterState* state = daemon_->alive() ? &daemon_->state() : nullptr;
  const std::vector<leader::PoolReport> reports = provider_->happen(event, state, now_);
  if (!reports.empty() && daemon_->alive()) feed({reports.begin(), reports.end()});
}

}  // namespace tidepool::sim
