// Which running jobs are preempted for a job that the plan puts before them: no more than it needs (volcano#1256).
#include <map>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "policies/cluster/whole_cluster_policy.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::policies::cluster {
namespace {

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

  explicit VictimPool(const std::vector<int>& slots_of_nodes) {
    auto policy = std::make_shared<const WholeClusterPolicy>("said", std::make_shared<const SizesInOrder>(said));
    story.engine() = core::Engine({{{"default", policy}}, {std::make_shared<test::PlainDetector>()}, {}});
    for (const int slots : slots_of_nodes) story.node(slots);
  }

  JobId submit(const test::JobSketch& sketch, int size) {
    const JobId id = story.submit(sketch);
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

}  // namespace

TEST_CASE("a small victim is spared when a larger one that is needed anyway makes room by itself") {
  VictimPool pool({5});
  const JobId large = pool.running({.min = 4, .max = 4}, 4);
  const JobId small = pool.running({.min = 1, .max = 1}, 1);
  const JobId claimant = pool.submit({.min = 4, .max = 4}, 4);
  CHECK(pool.preempted_for(claimant, {large, small}) == std::vector{large});
}

TEST_CASE("of victims that are left over the one that stands highest in the plan is spared") {
  VictimPool pool({6});
  const JobId large = pool.running({.min = 4, .max = 4}, 4);
  const JobId better = pool.running({.min = 1, .max = 1}, 1);
  const JobId worse = pool.running({.min = 1, .max = 1}, 1);
  const JobId claimant = pool.submit({.min = 5, .max = 5}, 5);
  CHECK(pool.preempted_for(claimant, {large, better, worse}) == std::vector{worse, large});
}

TEST_CASE("a victim whose slots cannot make room for a gang is spared") {
  VictimPool pool({4, 4});
  const JobId whole = pool.running({.min = 4, .max = 4}, 4);
  const JobId half = pool.running({.min = 2, .max = 2}, 2);
  const JobId other_half = pool.running({.min = 2, .max = 2}, 2);
  // One worker of four slots: the node of `whole` is enough, half of the other node is not.
  const JobId claimant = pool.submit({.min = 1, .max = 1, .gpus = 4}, 4);
  CHECK(pool.preempted_for(claimant, {other_half, whole, half}) == std::vector{whole});
}

TEST_CASE("nothing is preempted for a claim that all victims together cannot meet") {
  VictimPool pool({4});
  const JobId small = pool.running({.min = 1, .max = 1}, 1);
  const JobId fixed = pool.running({.min = 3, .max = 3}, 3);
  pool.story.learn(core::JobResizeRequested{fixed, 3});
  pool.story.decide();
  const JobId claimant = pool.submit({.min = 4, .max = 4}, 4);
  CHECK(pool.preempted_for(claimant, {small}).empty());
}

}  // namespace tidepool::policies::cluster
