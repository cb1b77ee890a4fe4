// Which workers are the cheapest to move, kept between decisions.
#include "core/place/move_costs.hpp"

#include <catch2/catch.hpp>

#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

// A cluster that a test changes by hand, and what is kept of it.
struct CostsKept {
  core::ClusterState state;
  core::MoveCosts costs;

  core::Job& job(JobId id) { return state.mutable_job(id); }
  core::Worker& worker(WorkerId id) { return state.workers.edit(id); }
  void follow(JobId id) { costs.follow(state, *state.find_job(id)); }

  [[nodiscard]] std::vector<WorkerId> cheapest() const {
    std::vector<WorkerId> workers;
    for (const auto& mover : costs.cheapest_first()) workers.push_back(mover.worker);
    return workers;
  }
  [[nodiscard]] std::vector<JobId> most_held() const {
    std::vector<JobId> jobs;
    for (const auto& [slots, job] : costs.most_held_first()) jobs.push_back(job);
    return jobs;
  }
};

// Two jobs run: one with two workers on the first node, one with three on the second.
struct TwoJobs {
  Story story;
  JobId small;
  JobId large;
  CostsKept kept;

  TwoJobs() {
    story.node(2);
    small = story.running({.min = 1, .max = 4}, 2);
    story.node(3);
    large = story.running({.min = 1, .max = 4}, 3);
    kept.state = story.state();
    kept.follow(large);
    kept.follow(small);
  }
  [[nodiscard]] std::vector<WorkerId> workers(JobId id) const { return story.job(id).membership.workers; }
};

std::vector<WorkerId> one_after_other(std::vector<WorkerId> first, const std::vector<WorkerId>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace

TEST_CASE("workers whose jobs may move are kept cheapest first, and follow what a move has cost their job") {
  TwoJobs scene;
  CostsKept& kept = scene.kept;
  CHECK(kept.cheapest() == one_after_other(scene.workers(scene.small), scene.workers(scene.large)));
  CHECK(kept.costs.cheapest_first().begin()->cost_s == core::cost_of_moving(scene.story.job(scene.small), 1));
  kept.job(scene.small).measurements.boot_cost = {.count = 1, .mean_ms = 600'000};
  kept.follow(scene.small);
  CHECK(kept.cheapest() == one_after_other(scene.workers(scene.large), scene.workers(scene.small)));
  kept.job(scene.large).spec.placement.exclusive = true;  // its workers have a rule together
  kept.follow(scene.large);
  CHECK(kept.cheapest() == scene.workers(scene.small));
  kept.costs.forget(scene.small);
  CHECK(kept.cheapest().empty());
}

TEST_CASE("a worker on its way out comes free, one that is gone does neither, and both hold their slots") {
  TwoJobs scene;
  CostsKept& kept = scene.kept;
  const std::vector<WorkerId> workers = scene.workers(scene.large);
  kept.worker(workers[0]).phase = core::WorkerPhase::kLeaving;
  kept.worker(workers[1]).node_lost = true;
  kept.follow(scene.large);
  CHECK(kept.costs.on_their_way_out() == IdSet<WorkerId>{workers[0]});
  CHECK(kept.cheapest() == one_after_other(scene.workers(scene.small), {workers[2]}));
  CHECK(kept.most_held() == std::vector<JobId>{scene.large, scene.small});
  kept.costs.forget(scene.large);
  CHECK(kept.costs.on_their_way_out().empty());
  CHECK(kept.most_held() == std::vector<JobId>{scene.small});
}

TEST_CASE("what holds slots of one type is kept apart, of a job that holds several types with each of them") {
  Story story;
  CostsKept kept;
  story.node(2);
  const NodeId other = story.engine().node_id_for("other");
  story.learn(core::NodeJoined{other, "other", 4, "new", Money(), {}});
  const JobId mixes = story.running({.min = 5, .max = 5, .mixed = true}, 5);
  const JobId single = story.running({.min = 1, .max = 2}, 1);
  kept.state = story.state();
  kept.follow(mixes);
  kept.follow(single);
  const std::string type = "new";
  std::vector<WorkerId> on_type;
  for (const WorkerId id : kept.state.find_job(mixes)->membership.workers) {
    if (kept.state.find_worker(id)->node == other) on_type.push_back(id);
  }
  const auto held = static_cast<int>(on_type.size());
  REQUIRE((held > 0 && held < 5));
  using Held = std::set<core::MoveCosts::Held>;
  const bool is_beside = kept.state.find_worker(kept.state.find_job(single)->membership.workers.front())->node == other;
  CHECK(kept.costs.most_held_first(&type) == (is_beside ? Held{{-held, mixes}, {-1, single}} : Held{{-held, mixes}}));
  CHECK(kept.costs.cheapest_first(&type).size() == on_type.size() + (is_beside ? 1U : 0U));
  CHECK(kept.costs.cheapest_first().size() == 6);
  kept.costs.forget(mixes);
  CHECK(kept.costs.cheapest_first(&type).size() == (is_beside ? 1U : 0U));
  const std::string unknown = "none";
  CHECK(kept.costs.most_held_first(&unknown).empty());
}

TEST_CASE("of jobs that hold as many slots the lower one comes first, and one without workers is not kept") {
  TwoJobs scene;
  CostsKept& kept = scene.kept;
  kept.job(scene.large).membership.workers.pop_back();
  kept.follow(scene.large);
  CHECK(kept.most_held() == std::vector<JobId>{scene.small, scene.large});
  kept.job(scene.small).membership.workers.clear();
  kept.follow(scene.small);
  CHECK(kept.most_held() == std::vector<JobId>{scene.large});
}

}  // namespace tidepool::test
