// A pool of which the test says what its policy gives: which jobs have to give way for which.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "policies/engine/whole_cluster_policy.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::policies::cluster {

// Gives each job the size that the test says, and serves the jobs in the test's order.
class SizesInOrder final : public AllocationPolicy {
 public:
  struct Said {
    std::map<JobId, int> sizes;
    std::vector<JobId> order;
  };
  explicit SizesInOrder(std::shared_ptr<const Said> said) : said_(std::move(said)) {}

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& /*budget*/) const override {
    Allocation allocation;
    for (const JobRow& job : view.jobs) {
      const auto size = said_->sizes.find(job.id);
      Grant grant;
      grant.size = size == said_->sizes.end() ? 0 : size->second;
      grant.reason = core::reason::Started{{.size = grant.size}};
      allocation.grants.push_back(grant);
    }
    for (const JobId id : said_->order) {
      for (std::size_t row = 0; row < view.jobs.size(); ++row) {
        if (view.jobs[row].id == id) allocation.order.push_back(row);
      }
    }
    return allocation;
  }

 private:
  std::shared_ptr<const Said> said_;
};

struct VictimPool {
  std::shared_ptr<SizesInOrder::Said> said = std::make_shared<SizesInOrder::Said>();
  test::Story story;

  explicit VictimPool(const std::vector<int>& slots_of_nodes, const core::EngineConfig& config = {}) {
    auto policy = std::make_shared<const WholeClusterPolicy>("said", std::make_shared<const SizesInOrder>(said));
    story.engine() = core::Engine({{{"default", policy}}, {std::make_shared<test::PlainDetector>()}, config});
    for (const int slots : slots_of_nodes) story.node(slots);
  }

  JobId submit(const test::JobSketch& sketch, int size) { return submit(test::job_spec(sketch), size); }
  JobId submit(core::JobSpec spec, int size) {
    const JobId id = story.engine().next_job_id();
    story.learn(core::JobSubmitted{id, std::move(spec)});
    said->sizes[id] = size;
    said->order.push_back(id);
    return id;
  }
  JobId running(const test::JobSketch& sketch, int size) {
    const JobId id = submit(sketch, size);
    story.settle(id);
    REQUIRE(story.job(id).size() > 0);
    return id;
  }
  // The next plan puts `claimant` first and gives the others nothing, in this order.
  std::vector<JobId> preempted_for(JobId claimant, const std::vector<JobId>& others) {
    said->order = {claimant};
    for (const JobId id : others) {
      said->sizes[id] = 0;
      said->order.push_back(id);
    }
    std::vector<JobId> victims;
    for (const auto& planned : story.decide().plan) {
      const auto* intent = std::get_if<core::PreemptIntent>(&planned.intent);
      if (intent != nullptr) victims.push_back(intent->job);
    }
    return victims;
  }
};

}  // namespace tidepool::policies::cluster
