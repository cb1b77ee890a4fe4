// A story with pools of nodes: their provider says what the test has it say.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/words/sentence.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {

inline core::PoolSpec gpu_pool(int max = 4) {
  return pool_spec("gpu", max);
}

// A story with pools: decisions go on until nothing follows.
class PoolStory : public Story {
 public:
  explicit PoolStory(std::vector<core::PoolSpec> pools = {gpu_pool()}, double spot_share = 1) {
    learn(core::PoolsConfigured{spot_share, std::move(pools)});
  }
  // Of an engine of these parts.
  PoolStory(core::Engine::Parts parts, std::vector<core::PoolSpec> pools) {
    engine() = core::Engine(std::move(parts));
    learn(core::PoolsConfigured{1, std::move(pools)});
  }

  // The sentences about nodes, of all decisions until nothing follows.
  std::vector<std::string> plan() {
    std::vector<std::string> said;
    for (int round = 0; round < 8; ++round) {
      const core::Decision decision = engine().decide(now());
      CHECK(text_of(decision) == text_of(engine().decide_from_scratch(now())));
      REQUIRE(engine().validate(decision).ok());
      log(engine().accept(decision));
      check_books();
      for (const auto& planned : decision.nodes) said.push_back(core::sentence(planned));
      if (decision.empty()) return said;
    }
    FAIL("decisions do not come to rest");
    return said;
  }
  const core::PoolNode& asked(core::NodeRequest request) const {
    REQUIRE(state().pools.find_node(request) != nullptr);
    return *state().pools.find_node(request);
  }
  NodeId joins(core::NodeRequest request) {
    learn(core::PoolNodeCreated{request, "i-" + std::to_string(request), {}});
    return node(2, asked(request).name);
  }
  // Jobs of one worker each; the nodes have two slots.
  std::vector<JobId> three_on_two_nodes() {
    std::vector<JobId> jobs;
    for (int i = 0; i < 3; ++i) jobs.push_back(submit({.min = 1, .max = 1}));
    REQUIRE(plan().size() == 2);
    joins(1);
    joins(2);
    for (const JobId job : jobs) settle(job);
    return jobs;
  }
  void ends(JobId id) {
    learn(core::JobCancelRequested{id});
    (void)plan();
    for (const WorkerId worker : std::vector<WorkerId>(job(id).membership.workers)) exit(worker);
    (void)plan();
  }
  core::PoolListed list_of(const std::vector<core::NodeRequest>& requests, std::optional<Duration> lifetime = {}) {
    core::PoolListed listed{.pool = "gpu", .asked_before = state().pools.next_request, .nodes = {}, .begun_at = now()};
    for (const auto request : requests) listed.nodes.push_back({request, "i-" + std::to_string(request), lifetime});
    return listed;
  }
  void lists(const std::vector<core::NodeRequest>& requests) { learn(list_of(requests)); }
};

}  // namespace tidepool::test
