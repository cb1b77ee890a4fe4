// A job's workers together: as many as possible stay where they are, which an integer program, solved by Cbc, must say
// as well.
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "core/place/together.hpp"
#include "studies/models/integer_program.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// Nodes of which some slots are held by other jobs, and a job whose workers are on some of them.
struct Scene {
  core::ClusterState state;
  core::Job job;
  core::TogetherRequest request;
  std::vector<int> room;  // by node: workers of the job that could be there, its own included
  std::vector<int> own;
};

Scene scene_of(Rng& rng) {
  Scene scene;
  const auto nodes = static_cast<std::uint64_t>(rng.between(1, 64));
  const int slots = static_cast<int>(rng.between(1, 8));
  const int each = slots % 2 == 0 && rng.chance(0.3) ? 2 : 1;
  const double busy = rng.uniform();
  int capacity = 0;
  for (std::uint64_t number = 1; number <= nodes; ++number) {
    core::Node node;
    node.id = NodeId(number);
    node.name = "n" + std::to_string(number);
    node.state = core::NodeState::kUp;
    node.owners.resize(static_cast<std::size_t>(rng.chance(0.1) ? slots + 1 : slots));
    int free = 0;
    for (WorkerId& owner : node.owners) {
      if (rng.chance(busy)) {
        owner = WorkerId(1);
      } else {
        ++free;
      }
    }
    const int own = rng.chance(0.3) ? static_cast<int>(rng.between(1, slots / each)) : 0;
    scene.own.push_back(own);
    scene.room.push_back(own + free / each);
    capacity += scene.room.back();
    if (own > 0) scene.request.own[node.id] = own;
    scene.state.nodes.emplace(node.id, node);
  }
  const int held = std::accumulate(scene.own.begin(), scene.own.end(), 0);
  scene.job.spec.gpus_per_worker = each;
  const int workers = static_cast<int>(rng.between(std::max(1, held), std::max(1, capacity)));
  scene.request.gang = {.job = &scene.job, .workers = workers, .slots_per_worker = each};
  const int fewest = (workers * each + slots - 1) / slots;
  scene.request.nodes_max = static_cast<int>(rng.between(fewest, fewest + 2));
  return scene;
}

// How many workers of the job can stay at most; nothing if no layout is on so few nodes. Three columns a node: whether
// it is used, how many workers are there, and how many of these were there before.
std::optional<int> most_that_stay(const Scene& scene) {
  using Column = policies::LinearProgram::Column;
  policies::LinearProgram program;
  std::vector<std::size_t> whole;
  policies::LinearProgram::Row used{.terms = {}, .high = static_cast<double>(scene.request.nodes_max)};
  const auto workers = static_cast<double>(scene.request.gang.workers);
  policies::LinearProgram::Row all{.terms = {}, .low = workers, .high = workers};
  for (std::size_t at = 0; at < scene.room.size(); ++at) {
    const std::size_t is_used = program.add(Column{.high = 1});
    const std::size_t there = program.add(Column{.high = static_cast<double>(scene.room[at])});
    const std::size_t stay = program.add(Column{.objective = 1, .high = static_cast<double>(scene.own[at])});
    whole.insert(whole.end(), {is_used, there, stay});
    used.terms.push_back({is_used, 1});
    all.terms.push_back({there, 1});
    program.add({.terms = {{there, 1}, {is_used, -static_cast<double>(scene.room[at])}}, .high = 0});
    program.add({.terms = {{stay, 1}, {there, -1}}, .high = 0});
  }
  program.add(std::move(used));
  program.add(std::move(all));
  const policies::LinearAnswer answer =
      policies::maximize_whole(program, whole, {.gap = 0, .nodes_max = 1'000'000, .passes_max = {}});
  if (answer.solved == policies::Solved::kInfeasible) return std::nullopt;
  REQUIRE(answer.solved == policies::Solved::kOptimal);
  return static_cast<int>(std::lround(answer.objective));
}

int stay_in(const Scene& scene, const core::WorkersOn& workers) {
  int stay = 0;
  for (const auto& [node, own] : scene.request.own) {
    const auto found = workers.find(node);
    if (found != workers.end()) stay += std::min(own, found->second);
  }
  return stay;
}

TEST_CASE("a job's workers come together with as few moves as an integer program finds") {
  int moved = 0;
  int infeasible = 0;
  for_each_seed("together", 1'000, [&](std::uint64_t, Rng& rng) {
    const Scene scene = scene_of(rng);
    const core::FreeSlots slots(scene.state);
    const auto workers = core::lay_together(slots, scene.request);
    const auto most = most_that_stay(scene);
    REQUIRE(workers.has_value() == most.has_value());
    infeasible += most ? 0 : 1;
    if (!most) return;
    int all = 0;
    for (const auto& [node, count] : *workers) {
      REQUIRE(count >= 1);
      REQUIRE(count <= scene.room[static_cast<std::size_t>(node.number() - 1)]);
      all += count;
    }
    REQUIRE(all == scene.request.gang.workers);
    REQUIRE(static_cast<int>(workers->size()) <= scene.request.nodes_max);
    REQUIRE(stay_in(scene, *workers) == *most);
    const int held = std::accumulate(scene.own.begin(), scene.own.end(), 0);
    moved += *most < held ? 1 : 0;
  });
  if (!all_seeds_run()) return;
  CHECK(moved > 50);
  CHECK(infeasible > 100);
}

}  // namespace
}  // namespace tidepool::test
