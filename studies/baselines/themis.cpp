#include "studies/baselines/themis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "policies/cluster/size_grants.hpp"
#include "studies/baselines/best_sizes.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr double kUnknownSteps = 1;

// One job's finish-time fairness by size.
class Fairness {
 public:
  Fairness(const View& view, const JobRow& job) : view_(view), job_(job) {
    left_ = job.steps_left.value_or(kUnknownSteps);
    const double all = job.steps_left ? left_ + job.steps_done : 2 * kUnknownSteps;
    const double share = double(view.slots()) / double(view.jobs.size());
    const int slots = std::clamp(static_cast<int>(share), 1, job.size_wanted);
    alone_ = all * step_seconds(slots) / std::min(1.0, share);
  }

  // `wait`: time without any slot before. 1 where the job's speed is not known.
  [[nodiscard]] double rho(int size, double wait) const {
    const double since = (view_.now - job_.submitted).to_seconds();
    const double rho = (since + wait + left_ * step_seconds(size)) / alone_;
    return std::isfinite(rho) ? rho : 1;
  }
  // Of waiting for one lease and then running as wished.
  [[nodiscard]] double without() const { return rho(job_.size_wanted, Themis::kLease.to_seconds()); }

  // The logarithm of how much better rho is than without. 0 where that is nothing, or not known.
  [[nodiscard]] double bid(int size) const {
    return size < job_.size_min ? 0 : std::max(0.0, std::log(without() / rho(size, 0)));
  }
  // By size, from 0.
  [[nodiscard]] std::vector<double> bids(int free) const {
    std::vector<double> bids{0};
    for (int size = 1; size <= std::min(job_.size_wanted, free); ++size) bids.push_back(bid(size));
    return bids;
  }

 private:
  [[nodiscard]] double step_seconds(int size) const {
    return job_.speed->step_seconds(packed(size, view_.slots_per_node()));
  }

  const View& view_;
  const JobRow& job_;
  double left_;
  double alone_;
};

bool lease_runs(const JobRow& job, Instant now) {
  return job.mark.level > 0 && job.mark.level == size_of(job.placement) && now - job.mark.since < Themis::kLease;
}

Weighing by_fairness(const View& view) {
  return {.measure = core::measure::kFairness, .worth = [&view](std::size_t row, int size) {
            const JobRow& job = view.jobs[row];
            const bool bids = size == 0 || (size >= job.size_min && size <= job.size_wanted);
            return bids ? Fairness(view, job).bid(size) : -std::numeric_limits<double>::infinity();
          }};
}

// A job that has a lease bids for nothing.
void tell_lease(const View& view, std::size_t row, Grant& grant) {
  const JobRow& job = view.jobs[row];
  if (!lease_runs(job, view.now)) return;
  const Duration left = Themis::kLease - (view.now - job.mark.since);
  grant.reason = core::reason::TurnHold{
      {.size = grant.size}, core::reason::ByTurn{.measure = core::measure::kLease, .own = left.to_seconds()}};
}

}  // namespace

Allocation Themis::allocate(const View& view, core::StepBudget& budget) const {
  std::vector<ChosenSize> chosen(view.jobs.size());
  std::vector<std::pair<double, std::size_t>> askers;  // worst first
  int free = view.slots();
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const JobRow& job = view.jobs[row];
    if (lease_runs(job, view.now)) {
      chosen[row].size = job.mark.level;
      free -= job.mark.level;
    } else {
      askers.emplace_back(-Fairness(view, job).without(), row);
    }
  }
  std::sort(askers.begin(), askers.end());
  const auto invited = static_cast<std::size_t>(std::ceil((1 - kFairness) * double(askers.size())));
  std::vector<std::vector<double>> bids;
  bids.reserve(invited);
  for (std::size_t i = 0; i < invited; ++i) bids.push_back(Fairness(view, view.jobs[askers[i].second]).bids(free));
  if (const auto won = best_sizes(bids, free, budget)) {
    for (std::size_t i = 0; i < invited; ++i) {
      const auto size = (*won)[i];
      chosen[askers[i].second].size = size;
      free -= size;
    }
  }
  for (const auto& [rho, row] : askers) {
    const JobRow& job = view.jobs[row];
    if (chosen[row].size > 0 || free < job.size_min) continue;
    chosen[row].size = std::min(job.size_wanted, free);
    free -= chosen[row].size;
  }
  Allocation allocation = grant_sizes(view, chosen, by_fairness(view));
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    tell_lease(view, row, allocation.grants[row]);
    Mark& mark = allocation.grants[row].mark;
    if (!lease_runs(view.jobs[row], view.now)) mark = {.level = chosen[row].size, .since = view.now};
  }
  return allocation;
}

}  // namespace tidepool::policies::cluster
