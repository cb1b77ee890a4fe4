#include "policies/cluster/sia.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "policies/cluster/size_grants.hpp"
#include "policies/place/regroup.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr double kLeastGain = 1e-4;  // a configuration that may not change at all is worth this

std::vector<int> configurations(int slots_per_node, int most) {
  std::vector<int> sizes;
  for (int size = 1; size <= std::min(most, slots_per_node); size *= 2) sizes.push_back(size);
  for (int size = slots_per_node; size <= most; size += slots_per_node) {
    if (size != sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

double restart_factor(const JobRow& job, Instant now) {
  const double stall = job.transition.to_seconds();
  const double age = (now - job.submitted).to_seconds();
  if (job.placement.empty() || age < stall) return 1;
  return std::max(0.0, age - job.resizes * stall) / (age + stall);
}

// Goodput by configuration, only those that can run.
std::vector<std::pair<int, double>> goodputs(const View& view, const JobRow& job) {
  const int most = std::min({std::max(2 * job.largest_seen, job.size_min), job.size_max, view.slots()});
  std::vector<std::pair<int, double>> found;
  for (const int size : configurations(view.slots_per_node(), most)) {
    const double goodput = job.speed->goodput(packed(size, view.slots_per_node()));
    if (size >= job.size_min && goodput > 0 && std::isfinite(goodput)) found.emplace_back(size, goodput);
  }
  return found;
}

}  // namespace

Sia::Program Sia::program_of(const View& view) {
  Program program{.choices = {.jobs = {}, .capacity = {view.slots()}}, .sizes = {}};
  for (const JobRow& job : view.jobs) {
    const auto found = goodputs(view, job);
    const double factor = restart_factor(job, view.now);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [size, goodput] : found) least = std::min(least, goodput);
    auto& options = program.choices.jobs.emplace_back();
    auto& sizes = program.sizes.emplace_back();
    for (const auto& [size, goodput] : found) {
      const double gain = goodput / least * (size == size_of(job.placement) ? 1 : factor);
      options.push_back({.cost = std::pow(std::max(gain, kLeastGain), kPower) - kLambda, .slots = size});
      sizes.push_back(size);
    }
  }
  return program;
}

Allocation Sia::allocate(const View& view, core::StepBudget& budget) const {
  std::vector<ChosenSize> chosen(view.jobs.size());
  if (view.slots() > 0) {
    const Program program = program_of(view);
    const ChoiceAnswer answer = solve(program.choices);
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      budget.spend(static_cast<std::int64_t>(program.sizes[row].size()));
      if (const auto option = answer.chosen[row]) {
        chosen[row] = {.size = program.sizes[row][*option], .gain = -program.choices.jobs[row][*option].cost};
      }
    }
  }
  Allocation allocation = grant_sizes(view, chosen);
  allocation.placements = Regroup().place(view, allocation);
  return allocation;
}

}  // namespace tidepool::policies::cluster
