#include "studies/baselines/sia.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "policies/cluster/size_grants.hpp"
#include "policies/place/regroup.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr double kLeastGain = 1e-4;  // a configuration that may not change at all is worth this

// Powers of two within a node and whole nodes, as far as the job may have them; if it may have none of them, its
// smallest size.
std::vector<int> configured_sizes(const JobRow& job, int slots_per_node, int most) {
  std::vector<int> sizes;
  for (int size = 1; size <= std::min(most, slots_per_node); size *= 2) sizes.push_back(size);
  for (int size = slots_per_node; size <= most; size += slots_per_node) {
    if (sizes.empty() || size != sizes.back()) sizes.push_back(size);
  }
  std::erase_if(sizes, [&](int size) { return !may_have(job, size); });
  const int smallest = smallest_size(job, job.size_min);
  if (sizes.empty() && smallest > 0 && smallest <= most) sizes.push_back(smallest);
  return sizes;
}

double restart_factor(const JobRow& job, Instant now) {
  const double stall = job.transition.to_seconds();
  const double age = (now - job.submitted).to_seconds();
  if (job.placement.empty() || age < stall) return 1;
  return std::max(0.0, age - job.resizes * stall) / (age + stall);
}

struct Configuration {
  int type = 0;
  int size = 0;
  double goodput = 0;
};

int types_of(const View& view) {
  return std::max(1, static_cast<int>(view.types.size()));
}

int slots_per_node(const View& view, int type) {
  int most = 0;
  for (const NodeRow& node : view.nodes) most = std::max(most, node.type == type ? node.slots : 0);
  return most;
}

bool is_present(const View& view, const JobRow& job, int type, int size) {
  return size == size_of(job.placement) &&
         view.nodes[static_cast<std::size_t>(job.placement.front().node)].type == type;
}

// Only those that can run; of a job that must not change now only the present one.
std::vector<Configuration> configurations_of(const View& view, const JobRow& job) {
  std::vector<Configuration> found;
  const int grown = std::min(std::max(2 * job.largest_seen, job.size_min), job.size_max);
  for (int type = 0; type < types_of(view); ++type) {
    const int per_node = slots_per_node(view, type);
    if (per_node == 0) continue;
    std::vector<int> sizes = configured_sizes(job, per_node, std::min(grown, view.slots_of_type(type)));
    if (job.resize_blocked) sizes = {size_of(job.placement)};
    for (const int size : sizes) {
      if (size == 0 || (job.resize_blocked && !is_present(view, job, type, size))) continue;
      Shape shape = packed(size, per_node);
      shape.type = type;
      const double goodput = job.speed->goodput(shape);
      if (goodput > 0 && std::isfinite(goodput)) found.push_back({.type = type, .size = size, .goodput = goodput});
    }
  }
  return found;
}

// What a configuration is worth: the best of those of a size, on whichever type.
Weighing by_goodput(const ChoiceProgram& program) {
  return {.measure = core::measure::kGoodput, .worth = [&program](std::size_t row, int size) {
            if (size == 0) return 0.0;
            double best = -std::numeric_limits<double>::infinity();
            for (const ChoiceProgram::Option& option : program.jobs[row]) {
              if (option.slots == size) best = std::max(best, -option.cost);
            }
            return best;
          }};
}

}  // namespace

ChoiceProgram Sia::program_of(const View& view) {
  ChoiceProgram program;
  for (int type = 0; type < types_of(view); ++type) program.capacity.push_back(view.slots_of_type(type));
  for (const JobRow& job : view.jobs) {
    const auto found = configurations_of(view, job);
    const double factor = restart_factor(job, view.now);
    double least = std::numeric_limits<double>::infinity();
    for (const Configuration& configuration : found) least = std::min(least, configuration.goodput);
    auto& options = program.jobs.emplace_back();
    for (const auto& [type, size, goodput] : found) {
      const double gain = job.size_min * goodput / least * (is_present(view, job, type, size) ? 1 : factor);
      options.push_back({.cost = std::pow(std::max(gain, kLeastGain), kPower) - kLambda,
                         .slots = size,
                         .kind = static_cast<std::size_t>(type)});
    }
  }
  return program;
}

Allocation Sia::allocate(const View& view, core::StepBudget& budget) const {
  const ChoiceProgram program = program_of(view);
  const ChoiceAnswer answer = solve(program);
  std::vector<ChosenSize> chosen(view.jobs.size());
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    budget.spend(static_cast<std::int64_t>(program.jobs[row].size()));
    if (const auto option = answer.chosen[row]) {
      chosen[row].size = program.jobs[row][*option].slots;
    }
  }
  Allocation allocation = grant_sizes(view, chosen, by_goodput(program));
  for (std::size_t row = 0; row < chosen.size() && !view.types.empty(); ++row) {
    const auto option = answer.chosen[row];
    allocation.grants[row].type = option ? static_cast<int>(program.jobs[row][*option].kind) : 0;
  }
  allocation.placements = Regroup().place(view, allocation);
  return allocation;
}

}  // namespace tidepool::policies::cluster
