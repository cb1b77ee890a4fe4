// A gang that has to be in one rack of a pool whose free slots lie scattered, over random racks: the workers that
// leave are as few as in any rack that could hold it, all in one rack, find room elsewhere, and the gang starts.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/seeds.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

struct Rack {
  int slots = 0;
  int free = 0;
};

// Jobs of one slot that cannot move hold what is not free.
struct ScatteredRacks {
  SharedPool pool{{{.name = "vision", .guarantee = 6}, {.name = "speech", .guarantee = 6}}, 2};
  std::map<std::string, Rack> racks;
  std::map<NodeId, std::string> rack_of;
  std::vector<JobId> singles;

  explicit ScatteredRacks(Rng& rng) {
    std::vector<JobId> fillers;
    const auto nodes = static_cast<int>(rng.between(3, 5));
    for (int at = 0; at < nodes; ++at) {
      const int slots = at == 0 ? 2 : static_cast<int>(rng.between(1, 4));
      const NodeId node = at == 0 ? NodeId(1) : pool.story.node(slots);
      const std::string name = "r" + std::to_string(rng.between(1, 3));
      pool.story.learn(core::NodeLabelled{node, {{"rack", name}}});
      rack_of[node] = name;
      const int free = static_cast<int>(rng.between(0, slots));
      // Each node is filled before the next one is there.
      for (int held = 0; held < slots - free; ++held) singles.push_back(pool.running("speech", 1));
      if (free > 0) fillers.push_back(pool.running("vision", free));
      racks[name].slots += slots;
      racks[name].free += free;
    }
    for (const JobId id : fillers) pool.end(id);
  }

  JobId submit_gang(int size) {
    core::JobSpec spec = SharedPool::spec("vision", size);
    spec.placement.strategy = core::TopologyStrategy::kStrictPack;
    spec.placement.key = "rack";
    return pool.submit(std::move(spec));
  }
  [[nodiscard]] int free() const {
    int slots = 0;
    for (const auto& [name, rack] : racks) slots += rack.free;
    return slots;
  }
  // How many have to leave so that one rack holds the gang; none: no rack is large enough.
  [[nodiscard]] std::optional<int> fewest_to_leave(int size) const {
    std::optional<int> fewest;
    for (const auto& [name, rack] : racks) {
      if (rack.slots < size) continue;
      const int lacking = std::max(0, size - rack.free);
      fewest = std::min(fewest.value_or(lacking), lacking);
    }
    return fewest;
  }
  [[nodiscard]] std::vector<std::string> racks_of(JobId id) const {
    std::vector<std::string> names;
    for (const NodeId node : pool.story.nodes_of(id)) names.push_back(rack_of.at(node));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
};

}  // namespace

TEST_CASE("a gang in one rack has as few jobs leave as any rack needs, and starts where they were") {
  int some_leave = 0;
  for_each_seed("racks that are cleared", 60, [&](std::uint64_t, Rng& rng) {
    ScatteredRacks world(rng);
    Story& story = world.pool.story;
    if (world.free() < 2) return;
    const int size = static_cast<int>(rng.between(2, std::min(5, world.free())));
    const auto fewest = world.fewest_to_leave(size);
    const JobId gang = world.submit_gang(size);
    const core::Decision decision = story.decide();
    CHECK(preempted_in(decision) == fewest.value_or(0));
    CHECK(decision.plan.size() == static_cast<std::size_t>(fewest == 0 ? 1 : fewest.value_or(0)));
    std::vector<std::string> left;
    for (const auto& planned : decision.plan) {
      const JobId id = core::job_of(planned.intent);
      if (id == gang) continue;
      for (const std::string& name : world.racks_of(id)) left.push_back(name);
      for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.exit(worker);
    }
    world.pool.settle_all();
    CHECK(story.job(gang).size() == (fewest ? size : 0));
    for (const JobId id : world.singles) CHECK(story.job(id).size() == 1);
    for (const std::string& name : left) CHECK(std::vector{name} == world.racks_of(gang));
    some_leave += left.empty() ? 0 : 1;
  });
  if (all_seeds_run()) CHECK(some_leave > 0);
}

}  // namespace tidepool::test
