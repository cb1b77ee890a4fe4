#include "tests/bench/decide_place.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "core/place/together.hpp"
#include "tests/bench/decide_figures.hpp"

namespace tidepool {
namespace {

constexpr int kSlotsPerNode = 8;
constexpr std::uint64_t kNodes = 1'250;
constexpr int kWorkers = 64;  // of one slot each
constexpr std::size_t kTimes = 500;

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

// A half-full cluster, filled anew for each sample.
class Pool {
 public:
  explicit Pool(std::uint64_t nodes) : nodes_(nodes) {}

  double gang() {
    const core::ClusterState state = half_full(nodes_, rng_);
    const double begin = now_us();
    core::FreeSlots slots(state, &none_exclusive_);
    std::uint64_t next_worker = 2;
    const auto placed = slots.take({.job = &job_, .workers = kWorkers}, next_worker);
    const double took = now_us() - begin;
    TP_CHECK(placed && placed->size() == kWorkers, "a half-full cluster has room for the gang");
    return took;
  }

  double together() {
    const core::ClusterState state = half_full(nodes_, rng_);
    core::TogetherRequest request{.gang = {.job = &job_, .workers = kWorkers},
                                  .nodes_max = core::nodes_together(kWorkers / kSlotsPerNode)};
    while (request.own.size() < kWorkers) request.own[NodeId(1 + rng_.below(nodes_))] = 1;
    const double begin = now_us();
    const core::FreeSlots counted(state, &none_exclusive_);
    const auto layout = core::lay_together(counted, request);
    const double took = now_us() - begin;
    TP_CHECK(layout.has_value(), "enough nodes are nearly empty");
    return took;
  }

 private:
  std::uint64_t nodes_;
  Rng rng_{11};
  const IdSet<JobId> none_exclusive_;
  core::Job job_;
};

}  // namespace

void print_placements() {
  Pool half(kNodes / 2);
  Pool full(kNodes);
  const std::string suffix = "1250x8_64_workers_vs_half";
  print_growth("place_gang", suffix, in_turns({.turns = kTimes}, half, full, [](Pool& any) { return any.gang(); }));
  print_growth("place_together", suffix,
               in_turns({.turns = kTimes}, half, full, [](Pool& any) { return any.together(); }));
}

}  // namespace tidepool
