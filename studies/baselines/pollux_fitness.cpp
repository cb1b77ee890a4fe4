#include "studies/baselines/pollux_fitness.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::policies::cluster {
namespace {

constexpr double kWaiting = 1e-3;

double reallocation_factor(const JobRow& job, Instant now) {
  const double delay = job.transition.to_seconds();
  const double age = std::max(1.0, (now - job.submitted).to_seconds());
  return std::max(age - job.resizes * delay, 0.0) / (age + delay);
}

// Of the fair share, or of the largest smaller size that the job's batch allows.
double fair_goodput(const JobRow& job, int share) {
  for (int size = share; size >= 1; --size) {
    const double goodput = job.speed->goodput({.nodes = 1, .size = size});
    if (goodput > 0 && std::isfinite(goodput)) return goodput;
  }
  return 1;
}

}  // namespace

Shape shape_of(std::span<const int> slots) {
  Shape shape{.nodes = 0, .size = 0};
  for (const int count : slots) {
    shape.nodes += count > 0 ? 1 : 0;
    shape.size += count;
  }
  return shape;
}

PolluxFitness::PolluxFitness(const View& view)
    : view_(view), held_(view.jobs.size(), view.nodes.size()), jobs_(view.jobs.size()), scale_(0) {
  const int slots = view.slots();
  if (slots == 0 || view.jobs.empty()) return;
  scale_ = double(view.nodes.size()) / slots;
  const int jobs = static_cast<int>(view.jobs.size());
  const int share = (slots + jobs - 1) / jobs;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const JobRow& job = view.jobs[row];
    for (const Share& on : job.placement) held_.job(row)[static_cast<std::size_t>(on.node)] = on.slots;
    Job& kept = jobs_[row];
    kept.most = std::min({std::max(2 * job.largest_seen, job.size_min), job.size_max, slots});
    kept.base = fair_goodput(job, share);
    kept.factor = reallocation_factor(job, view.now);
    const auto largest = static_cast<std::size_t>(std::max(kept.most, size_of(job.placement)));
    kept.columns = largest + 1;
    kept.speedup.assign((std::min(view.nodes.size(), largest) + 1) * kept.columns, -1);
  }
}

double PolluxFitness::speedup(std::size_t row, Shape shape) const {
  const Job& job = jobs_[row];
  if (job.speedup.empty()) return 0;  // a cluster without slots
  double& kept =
      job.speedup[static_cast<std::size_t>(shape.nodes) * job.columns + static_cast<std::size_t>(shape.size)];
  if (kept < 0) kept = std::max(0.0, view_.jobs[row].speed->goodput(shape) / job.base);
  return kept;
}

double PolluxFitness::burden(std::size_t row, Shape shape, bool changed) const {
  const JobRow& job = view_.jobs[row];
  if (!may_have(job, shape.size) || (changed && job.resize_blocked)) return 1 / kWaiting;
  return 1 / (scale_ * speedup(row, shape) * (changed ? jobs_[row].factor : 1) + kWaiting);
}

double PolluxFitness::burden(std::size_t row, std::span<const int> slots) const {
  const auto held = held_.job(row);
  return burden(row, shape_of(slots), !std::equal(slots.begin(), slots.end(), held.begin()));
}

double PolluxFitness::fitness(const SlotMatrix& matrix) const {
  double sum = 0;
  for (std::size_t row = 0; row < matrix.jobs(); ++row) sum += burden(row, matrix.job(row));
  return double(matrix.jobs()) / sum;
}

bool PolluxFitness::lawful(const SlotMatrix& matrix) const {
  std::vector<int> used(matrix.nodes(), 0);
  std::vector<int> distributed(matrix.nodes(), 0);
  for (std::size_t row = 0; row < matrix.jobs(); ++row) {
    const Shape shape = shape_of(matrix.job(row));
    if (shape.size > most(row)) return false;
    for (std::size_t node = 0; node < matrix.nodes(); ++node) {
      const int slots = matrix.job(row)[node];
      used[node] += slots;
      if (slots > 0 && shape.nodes > 1 && ++distributed[node] > 1) return false;
      if (slots < 0 || used[node] > view_.nodes[node].slots) return false;
    }
  }
  return true;
}

}  // namespace tidepool::policies::cluster
