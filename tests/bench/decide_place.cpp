#include "tests/bench/decide_place.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "core/place/together.hpp"
#include "tests/bench/decide_figures.hpp"
#include "tests/bench/percentiles.hpp"

namespace tidepool {
namespace {

constexpr int kSlotsPerNode = 8;
constexpr std::uint64_t kNodes = 1'250;
constexpr int kWorkers = 64;  // of one slot each
constexpr int kTimes = 500;

core::ClusterState half_full(std::uint64_t nodes, Rng& rng) {
  core::ClusterState state;
  for (std::uint64_t number = 1; number <= nodes; ++number) {
    core::Node node;
    node.id = NodeId(number);
    node.name = "node-" + std::to_string(number);
    node.state = core::NodeState::kUp;
    node.owners.resize(kSlotsPerNode);
    for (WorkerId& owner : node.owners) {
      if (rng.chance(0.5)) owner = WorkerId(1);
    }
    state.nodes.emplace(node.id, node);
  }
  return state;
}

struct Measured {
  Times gang;
  Times together;
};

Measured measure(std::uint64_t nodes) {
  Rng rng(11);
  const IdSet<JobId> none_exclusive;
  core::Job job;
  std::vector<double> gangs;
  std::vector<double> layouts;
  for (int i = 0; i < kTimes; ++i) {
    const core::ClusterState state = half_full(nodes, rng);
    double begin = now_us();
    core::FreeSlots slots(state, &none_exclusive);
    std::uint64_t next_worker = 2;
    const auto placed = slots.take({.job = &job, .workers = kWorkers}, next_worker);
    gangs.push_back(now_us() - begin);
    TP_CHECK(placed && placed->size() == kWorkers, "a half-full cluster has room for the gang");

    core::TogetherRequest request{.gang = {.job = &job, .workers = kWorkers},
                                  .nodes_max = core::nodes_together(kWorkers / kSlotsPerNode)};
    while (request.own.size() < kWorkers) request.own[NodeId(1 + rng.below(nodes))] = 1;
    begin = now_us();
    const core::FreeSlots counted(state, &none_exclusive);
    const auto layout = core::lay_together(counted, request);
    layouts.push_back(now_us() - begin);
    TP_CHECK(layout.has_value(), "enough nodes are nearly empty");
  }
  return {percentiles(std::move(gangs)), percentiles(std::move(layouts))};
}

}  // namespace

void print_placements() {
  const Measured half = measure(kNodes / 2);
  const Measured full = measure(kNodes);
  print("place_gang_p99_1250x8_64_workers_vs_half", full.gang.p99, half.gang.p99);
  print("place_together_p99_1250x8_64_workers_vs_half", full.together.p99, half.together.p99);
}

}  // namespace tidepool
