// Jobs that say how their workers lie among nodes, over random lives of a cluster whose labels change, under the
// policies that a daemon runs.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/state/node_labels.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// How a change of a job's workers leaves them: the nodes of those that join and of those that stay.
struct Change {
  std::vector<NodeId> join;
  std::vector<NodeId> stay;
};

Change change_of(const core::ClusterState& state, const core::Job& job, const core::Intent& intent) {
  Change change;
  std::set<WorkerId> leaving;
  const auto join = [&](const std::vector<core::WorkerPlacement>& workers) {
    for (const auto& worker : workers) change.join.push_back(worker.node);
  };
  std::visit(Overloaded{[&](const core::StartIntent& any) { join(any.joining_workers); },
                        [&](const core::GrowIntent& any) { join(any.joining_workers); },
                        [&](const core::MoveIntent& any) {
                          join(any.joining_workers);
                          leaving.insert(any.leaving_workers.begin(), any.leaving_workers.end());
                        },
                        [&](const core::ReplaceIntent& any) {
                          join({any.joining_worker});
                          leaving.insert(any.leaving_worker);
                        },
                        [](const auto&) {}},
             intent);
  for (const WorkerId id : job.membership.members) {
    const core::Worker* worker = state.find_worker(id);
    if (worker != nullptr && !leaving.contains(id)) change.stay.push_back(worker->node);
  }
  return change;
}

// Told apart from core::domain_of(), which is what is tested.
std::string domain_on(const core::ClusterState& state, NodeId id, const std::string& key) {
  const core::Node& node = *state.find_node(id);
  const core::Labels labels = core::labels_of(node);
  if (key == "node" || !labels.contains(key)) return "a node called " + node.name;
  return labels.at(key);
}

struct RulesSeen {
  int packed = 0;     // workers that came to a domain of others of their job, by a strict rule
  int spread = 0;     // workers that came to a domain of their own, likewise
  int alone = 0;      // workers of exclusive jobs that were placed
  int grouped = 0;    // workers that came to a domain with their group
  int regrouped = 0;  // generations of jobs with groups, after a failure
  int changed = 0;    // of these, by other intents than starts
  int waited = 0;     // verdicts
  int too_small = 0;  // likewise
  int held = 0;       // likewise
};

void require_rules(const core::ClusterState& state, const core::Job& job, const Change& change, RulesSeen& seen) {
  const core::PlacementSpec& rule = job.spec.placement;
  std::multiset<std::string> domains;
  for (const NodeId node : change.join) domains.insert(domain_on(state, node, rule.key));
  std::multiset<std::string> all = domains;
  for (const NodeId node : change.stay) all.insert(domain_on(state, node, rule.key));
  if (rule.strategy == core::TopologyStrategy::kStrictPack) {
    INFO(job.id.text() << " is in more than one " << rule.key);
    REQUIRE(std::set(all.begin(), all.end()).size() == 1);
    seen.packed += static_cast<int>(change.join.size());
  }
  if (rule.strategy == core::TopologyStrategy::kStrictSpread) {
    for (const std::string& domain : domains) {
      INFO(job.id.text() << " has two workers in " << domain);
      REQUIRE(all.count(domain) == 1);
    }
    seen.spread += static_cast<int>(change.join.size());
  }
  const auto each = static_cast<std::size_t>(job.spec.elastic.group);
  if (each == 1) return;
  REQUIRE(change.join.size() % each == 0);
  for (std::size_t at = 0; at < change.join.size(); ++at) {
    INFO("a group of " << job.id.text() << " is in more than one " << rule.key);
    REQUIRE(domain_on(state, change.join[at], rule.key) == domain_on(state, change.join[at - at % each], rule.key));
  }
  seen.grouped += static_cast<int>(change.join.size());
}

// No generation has a part of a group.
void require_whole_groups(const core::Job& job, const core::Intent& intent, RulesSeen& seen) {
  const auto* next = std::get_if<core::SwitchIntent>(&intent);
  const auto each = static_cast<std::size_t>(job.spec.elastic.group);
  if (next == nullptr || each == 1) return;
  INFO(job.id.text());
  REQUIRE(next->members.size() % each == 0);
  if (next->after_failure) ++seen.regrouped;
}

// What each node holds with all that the decision places: no job that is to be alone shares one that it comes to.
void require_exclusive(const core::ClusterState& state, const core::Decision& decision, RulesSeen& seen) {
  std::map<NodeId, std::set<JobId>> jobs_on;
  for (const auto& [id, worker] : state.workers) jobs_on[worker.node].insert(worker.job);
  std::map<NodeId, std::set<JobId>> coming;
  for (const auto& planned : decision.plan) {
    const core::Job& job = *state.find_job(core::job_of(planned.intent));
    for (const NodeId node : change_of(state, job, planned.intent).join) {
      jobs_on[node].insert(job.id);
      coming[node].insert(job.id);
      if (job.spec.placement.exclusive) ++seen.alone;
    }
  }
  for (const auto& [node, jobs] : coming) {
    const bool is_kept = std::any_of(jobs_on[node].begin(), jobs_on[node].end(),
                                     [&](JobId id) { return state.find_job(id)->spec.placement.exclusive; });
    INFO(node.text() << " is shared");
    REQUIRE((!is_kept || jobs_on[node].size() == 1));
  }
}

void require_placed_by_rules(const SimulatedWorld& world, const core::Decision& decision, RulesSeen& seen) {
  const core::ClusterState& state = world.state();
  for (const auto& planned : decision.plan) {
    const core::Job& job = *state.find_job(core::job_of(planned.intent));
    require_whole_groups(job, planned.intent, seen);
    const Change change = change_of(state, job, planned.intent);
    if (change.join.empty()) continue;
    require_rules(state, job, change, seen);
    const bool starts = std::holds_alternative<core::StartIntent>(planned.intent);
    if (!starts && core::has_gang_rule(job.spec)) ++seen.changed;
  }
  require_exclusive(state, decision, seen);
  for (const core::Verdict& verdict : decision.verdicts) {
    if (says<core::reason::WaitingForDomains>(verdict.reason)) ++seen.waited;
    if (says<core::reason::DomainsTooSmall>(verdict.reason)) ++seen.too_small;
    if (says<core::reason::NoRoomByRules>(verdict.reason)) ++seen.held;
  }
}

void live_by_rules(SimulatedWorld& world, int ticks, RulesSeen& seen) {
  world.rule_jobs();
  for (int i = 0; i < ticks; ++i) {
    world.tick();
    require_placed_by_rules(world, world.engine().decide(world.now()), seen);
    decide_and_check(world);
  }
}

TEST_CASE("Workers are placed as their jobs say how they lie, under any policy") {
  RulesSeen seen;
  for (const auto& policy : policies::known_policies()) {
    for_each_seed(("rules under " + std::string(policy.name)).c_str(), 15, [&](std::uint64_t seed, Rng&) {
      SimulatedWorld world(seed + 31'000, seed % 2 == 0, parts_of(policy.name));
      world.label_nodes();
      live_by_rules(world, 200, seen);
    });
  }
  if (!all_seeds_run()) return;
  CHECK(seen.packed > 0);
  CHECK(seen.spread > 0);
  CHECK(seen.alone > 0);
  CHECK(seen.grouped > 0);
  CHECK(seen.regrouped > 0);
  CHECK(seen.changed > 0);
  CHECK(seen.waited > 0);
  CHECK(seen.too_small > 0);
  CHECK(seen.held > 0);
}

TEST_CASE("When faults end, every job whose rules can be kept comes to its end, under any policy") {
  RulesSeen seen;
  for (const auto& policy : policies::known_policies()) {
    for_each_seed(("rules come to rest under " + std::string(policy.name)).c_str(), 8, [&](std::uint64_t seed, Rng&) {
      SimulatedWorld world(seed + 32'000, true, parts_of(policy.name));
      world.label_nodes();
      live_by_rules(world, 120, seen);
      INFO("under " << policy.name);
      come_to_rest(world);
    });
  }
}

}  // namespace
}  // namespace tidepool::test
