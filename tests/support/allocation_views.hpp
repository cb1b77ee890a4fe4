// Small clusters for policies that size all jobs at once: step times from a table, rows with plain defaults.
#pragma once

#include <catch2/catch.hpp>

#include <limits>
#include <utility>
#include <vector>

#include "policies/cluster/allocation_check.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::test {

// Step seconds by size, from 1; infinite beyond.
class StepTable final : public policies::cluster::SpeedModel {
 public:
  explicit StepTable(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override {
    const auto size = static_cast<std::size_t>(shape.size);
    return size <= seconds_.size() ? seconds_[size - 1] : std::numeric_limits<double>::infinity();
  }

 private:
  std::vector<double> seconds_;
};

// Useful steps a second: `by_size` from 1 on one node, times `across` on several; 0 beyond.
class GoodputTable final : public policies::cluster::SpeedModel {
 public:
  explicit GoodputTable(std::vector<double> by_size, double across = 1)
      : by_size_(std::move(by_size)), across_(across) {}
  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override { return 1 / goodput(shape); }
  [[nodiscard]] double goodput(policies::cluster::Shape shape) const override {
    const auto size = static_cast<std::size_t>(shape.size);
    return size <= by_size_.size() ? by_size_[size - 1] * (shape.nodes > 1 ? across_ : 1) : 0;
  }

 private:
  std::vector<double> by_size_;
  double across_;
};

// `jobs` alike jobs of up to eight workers that hold nothing, were submitted at 0 and run at `speed`; it is 600 s.
inline policies::cluster::View view_of(int nodes, int slots, int jobs, const policies::cluster::SpeedModel& speed) {
  policies::cluster::View view;
  view.now = Instant::from_micros(600'000'000);
  for (int i = 1; i <= nodes; ++i) view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = slots});
  for (int i = 1; i <= jobs; ++i) {
    policies::cluster::JobRow job;
    job.id = JobId(static_cast<std::uint64_t>(i));
    job.size_max = job.largest_seen = 8;
    job.steps_left = 100;
    job.speed = &speed;
    view.jobs.push_back(job);
  }
  return view;
}

inline std::vector<int> sizes_of(const policies::cluster::Allocation& allocation) {
  std::vector<int> sizes;
  for (const auto& grant : allocation.grants) sizes.push_back(grant.size);
  return sizes;
}

// What the policy answers, which must be lawful.
inline policies::cluster::Allocation decide(const policies::cluster::AllocationPolicy& policy,
                                            const policies::cluster::View& view) {
  core::StepBudget budget(10'000'000);
  policies::cluster::Allocation allocation = policy.allocate(view, budget);
  const Status lawful = policies::cluster::check_allocation(view, allocation);
  INFO((lawful.ok() ? "" : lawful.error().message));
  REQUIRE(lawful.ok());
  return allocation;
}

}  // namespace tidepool::test
