#include "studies/baselines/pollux.hpp"

#include <algorithm>
#include <limits>

#include "policies/cluster/size_grants.hpp"
#include "studies/baselines/pollux_search.hpp"

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

Shape shape_at(const PolluxFitness& fitness, int size) {
  return packed(size, fitness.view().slots_per_node());
}

// By how much a size lifts the job's addend above that of its smallest size; what others hold stays as it is.
Weighing by_fitness(const PolluxFitness& fitness) {
  return {.measure = core::measure::kFitness,
          .worth =
              [&fitness](std::size_t row, int size) {
                const JobRow& job = fitness.view().jobs[row];
                const int smallest = smallest_size(job, job.size_min);
                const bool weighed = smallest > 0 && smallest <= fitness.most(row) && size <= fitness.most(row);
                if (!weighed) return -std::numeric_limits<double>::infinity();
                const auto burden = [&](int at) {
                  const Shape shape = at == 0 ? Shape{.nodes = 0, .size = 0} : shape_at(fitness, at);
                  return fitness.burden(row, shape, at != size_of(job.placement));
                };
                return burden(smallest) - burden(size);
              },
          // What people know: as a multiple of the fair share's.
          .goodput = [&fitness](std::size_t row, int size) { return fitness.speedup(row, shape_at(fitness, size)); }};
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
    chosen[row].size = shape_of(slots).size;
    placements[row] = placement_of(view.jobs[row], slots, held);
  }
  Allocation allocation = grant_sizes(view, chosen, by_fitness(fitness));
  allocation.placements = std::move(placements);
  return allocation;
}

}  // namespace tidepool::policies::cluster
