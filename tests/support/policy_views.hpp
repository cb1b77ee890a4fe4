// Small cluster views for tests and benchmarks of policy files.
#pragma once

#include <cmath>
#include <cstdint>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::test {

// Speeds up with the square root of its size.
class RootSpeed final : public policies::cluster::SpeedModel {
 public:
  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override { return 1 / std::sqrt(shape.size); }
};

// `jobs` jobs of ids 1, 2, ... that want two slots and may have eight, on `nodes` nodes of eight; none holds any.
inline policies::cluster::View waiting_jobs(int jobs, int nodes) {
  static const RootSpeed speed;
  policies::cluster::View view{.now = Instant() + Duration::seconds(3'600), .nodes = {}, .jobs = {}};
  for (int i = 1; i <= nodes; ++i) view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = 8});
  for (int i = 1; i <= jobs; ++i) {
    policies::cluster::JobRow& job = view.jobs.emplace_back();
    job.id = JobId(static_cast<std::uint64_t>(i));
    job.submitted = Instant() + Duration::seconds(i);
    job.size_wanted = 2;
    job.size_max = 8;
    job.speed = &speed;
  }
  return view;
}

}  // namespace tidepool::test
