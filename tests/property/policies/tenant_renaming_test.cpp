// The names of tenants decide nothing: in random lives of random pools, with trees up to four levels deep, each
// decision is the same, word by word, when all tenants have other names that stand in another alphabetical order.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/codec.hpp"
#include "core/state/job_state.hpp"
#include "tests/support/planted_policy.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

std::string name_of_tenant(const char* world, std::size_t number) {
  return std::string(world) + "-" + std::to_string(100 + number) + "-tenant";
}

// Two pools in which the same happens; only the tenants' names differ.
class TwinPools {
 public:
  TwinPools(Rng& rng, const core::Engine::Parts& parts) : all_alike_(rng.chance(0.3)) {
    for (Story* story : {&one_, &other_}) story->engine() = core::Engine(parts);
    for (std::int64_t nodes = rng.between(1, 4); nodes > 0; --nodes) {
      const int slots = static_cast<int>(rng.between(1, 8));
      for (Story* story : {&one_, &other_}) story->node(slots);
      slots_ += slots;
    }
    set_tree(rng);
  }

  void submit(Rng& rng) {
    if (all_alike_) return submit(job_spec({.min = 1, .max = 2}), rng);
    JobSketch sketch{.min = static_cast<int>(rng.between(1, 3)), .gpus = rng.chance(0.2) ? 2 : 1};
    sketch.max = rng.chance(0.5) ? sketch.min : sketch.min + static_cast<int>(rng.between(0, 5));
    sketch.preferred = static_cast<int>(rng.between(sketch.min, sketch.max));
    sketch.priority = static_cast<int>(rng.between(-1, 1));
    sketch.cooldown = Duration::seconds(rng.between(0, 20));
    core::JobSpec spec = job_spec(sketch);
    spec.preemptible = !rng.chance(0.1);
    submit(std::move(spec), rng);
  }
  void cancel(Rng& rng) {
    std::vector<JobId> going_on;
    for (const auto& [id, job] : one_.state().jobs) {
      if (!core::is_final(job->state())) going_on.push_back(id);
    }
    if (going_on.empty()) return;
    const JobId id = going_on[rng.below(going_on.size())];
    for (Story* story : {&one_, &other_}) story->learn(core::JobCancelRequested{id});
  }
  void lose_node(Rng& rng) {
    std::vector<NodeId> up;
    for (const auto& [id, node] : one_.state().nodes) {
      if (node.state == core::NodeState::kUp) up.push_back(id);
    }
    if (up.size() < 2) return;
    const NodeId id = up[rng.below(up.size())];
    for (Story* story : {&one_, &other_}) story->learn(core::NodeLost{id, "no power"});
  }
  void pass(Duration time) {
    for (Story* story : {&one_, &other_}) story->pass(time);
  }
  // Workers do what they are told, some of them late.
  void workers_act(Rng& rng) {
    for (const auto& [id, worker] : IdTable(one_.state().workers)) {
      const bool starts = worker.phase == core::WorkerPhase::kStarting;
      const bool leaves = worker.phase == core::WorkerPhase::kLeaving && (worker.stop_due || worker.kill_at);
      if (worker.is_gone() || rng.chance(0.2)) continue;
      for (Story* story : {&one_, &other_}) {
        if (starts) story->ready(id);
        if (leaves) story->exit(id);
      }
    }
    for (const auto& [id, job] : IdTable(one_.state().jobs)) {
      if (job->membership.members.empty() || rng.chance(0.2)) continue;
      const bool switched = job->membership.switched;
      const std::int64_t steps = rng.between(1, 40);
      for (Story* story : {&one_, &other_}) {
        if (!switched) story->switched(id);
        story->steps(id, steps);
      }
    }
  }
  // Both decide; how many jobs give way or start. None: they do not decide the same.
  std::optional<int> decide() {
    const core::Decision one = one_.decide();
    const core::Decision other = other_.decide();
    if (text_of(one) != renamed_back(text_of(other))) return std::nullopt;
    return static_cast<int>(one.plan.size());
  }

 private:
  void submit(core::JobSpec spec, Rng& rng) {
    spec.tenant = leaves_[rng.below(leaves_.size())];
    const JobId id = one_.engine().next_job_id();
    const core::Tenant& tenant = *one_.state().tenants->find(spec.tenant);
    if (!spec.preemptible && spec.elastic.min * spec.gpus_per_worker > tenant.guarantee) spec.preemptible = true;
    one_.learn(core::JobSubmitted{id, spec});
    spec.tenant = renamed_.at(spec.tenant);
    other_.learn(core::JobSubmitted{id, spec});
  }
  // Wherever one could be preferred to another, nothing but its name says which.
  static void make_alike(core::TenantTree& tree) {
    for (core::Tenant& tenant : tree.tenants) {
      tenant.weight = 1;
      tenant.guarantee = 0;
      tenant.borrow = tenant.lend = std::nullopt;
    }
  }
  // A tree, and the same with other names in the same places. Half of them stand in reverse alphabetical order.
  void set_tree(Rng& rng) {
    core::TenantTree tree = random_tenants(rng, slots_);
    if (all_alike_) make_alike(tree);
    std::vector<std::size_t> places(tree.tenants.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (rng.chance(0.5)) {
      std::reverse(places.begin(), places.end());
    } else {
      for (std::size_t i = places.size(); i-- > 1;) std::swap(places[i], places[rng.below(i + 1)]);
    }
    std::map<std::string, std::size_t> number;
    for (std::size_t i = 0; i < tree.tenants.size(); ++i) number[tree.tenants[i].name] = i;
    core::TenantTree with_others = tree;
    for (std::size_t i = 0; i < tree.tenants.size(); ++i) {
      const auto rename = [&](std::string& name, const char* world, std::size_t place) {
        if (!name.empty()) name = name_of_tenant(world, place);
      };
      const std::string parent = tree.tenants[i].parent;
      const std::size_t above = parent.empty() ? 0 : number.at(parent);
      rename(tree.tenants[i].name, "one", i);
      rename(tree.tenants[i].parent, "one", above);
      rename(with_others.tenants[i].name, "other", places[i]);
      rename(with_others.tenants[i].parent, "other", places[above]);
      renamed_[tree.tenants[i].name] = with_others.tenants[i].name;
    }
    leaves_ = leaves_of(tree);
    one_.learn(core::TenantsConfigured{tree});
    other_.learn(core::TenantsConfigured{with_others});
  }

  [[nodiscard]] std::string renamed_back(std::string text) const {
    for (const auto& [name, other] : renamed_) {
      for (auto at = text.find(other); at != std::string::npos; at = text.find(other, at)) {
        text.replace(at, other.size(), name);
      }
    }
    return sorted_by_tenant(nlohmann::json::parse(text)).dump(1);
  }
  static std::string text_of(const core::Decision& decision) {
    auto document = core::to_json(decision);
    document.erase("steps_counted");
    return sorted_by_tenant(std::move(document)).dump(1);
  }
  // What is told tenant by tenant stands in the order of their names.
  static nlohmann::json sorted_by_tenant(nlohmann::json document) {
    if (!document.contains("tenants")) return document;
    nlohmann::json& changes = document.at("tenants").at("changes");
    std::vector<nlohmann::json> sorted = changes;
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.at("tenant") < b.at("tenant"); });
    changes = sorted;
    return document;
  }

  Story one_;
  Story other_;
  bool all_alike_ = false;  // tenants and their jobs
  int slots_ = 0;
  std::map<std::string, std::string> renamed_;
  std::vector<std::string> leaves_;
};

// How many jobs give way or start in a random life of both. None: one decision differs.
std::optional<int> changes_in_a_life(TwinPools& pools, Rng& rng) {
  int changes = 0;
  for (int round = 0; round < 40; ++round) {
    for (std::int64_t jobs = round < 4 ? rng.between(1, 4) : rng.between(-2, 2); jobs > 0; --jobs) pools.submit(rng);
    if (rng.chance(0.1)) pools.cancel(rng);
    if (rng.chance(0.01)) pools.lose_node(rng);
    const auto changed = pools.decide();
    if (!changed) return std::nullopt;
    changes += *changed;
    pools.workers_act(rng);
    pools.pass(Duration::seconds(rng.between(0, 30)));
  }
  return changes;
}

}  // namespace

TEST_CASE("tenants of other names, in another alphabetical order, get the same plans, job by job") {
  int changes = 0;
  for_each_seed("renamed tenants", 200, [&](std::uint64_t, Rng& rng) {
    TwinPools pools(rng, parts_of("tidal"));
    const auto changed = changes_in_a_life(pools, rng);
    REQUIRE(changed);
    changes += *changed;
  });
  if (all_seeds_run()) CHECK(changes > 5'000);
}

TEST_CASE("planted: a policy that goes by the names of tenants is seen") {
  int seen = 0;
  for_each_seed("by names", 20, [&](std::uint64_t, Rng& rng) {
    TwinPools pools(rng, planted_parts(PolicyBug::kNone));
    REQUIRE(changes_in_a_life(pools, rng));
    TwinPools wrong(rng, planted_parts(PolicyBug::kGoesByNames));
    seen += changes_in_a_life(wrong, rng) ? 0 : 1;
  });
  CHECK(seen > 0);
}

}  // namespace tidepool::test
