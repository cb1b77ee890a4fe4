#include "policies/cluster/pollux.hpp"

#include <algorithm>

#include "policies/cluster/pollux_search.hpp"
#include "policies/cluster/size_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

// A job that keeps its slots keeps the order of its ranks too.
Placement placement_of(const JobRow& job, std::span<const int> slots, std::span<const int> held) {
  if (std::equal(slots.begin(), slots.end(), held.begin())) return job.placement;
  Placement placement;
  for (std::size_t node = 0; node < slots.size(); ++node) {
    if (slots[node] > 0) placement.push_back({.node = static_cast<int>(node), .slots = slots[node]});
  }
  return placement;
}

}  // namespace

Allocation Pollux::allocate(const View& view, core::StepBudget& budget) const {
  const PolluxFitness fitness(view);
  const Rng seeded(static_cast<std::uint64_t>(view.now.count_us()));
  const SlotMatrix matrix = search_pollux(fitness, seeded, budget);
  std::vector<ChosenSize> chosen(view.jobs.size());
  std::vector<Placement> placements(view.jobs.size());
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const auto slots = matrix.job(row);
    const auto held = fitness.held().job(row);
    chosen[row] = {.size = shape_of(slots).size, .gain = fitness.burden(row, held) - fitness.burden(row, slots)};
    placements[row] = placement_of(view.jobs[row], slots, held);
  }
  Allocation allocation = grant_sizes(view, chosen);
  allocation.placements = std::move(placements);
  return allocation;
}

}  // namespace tidepool::policies::cluster
