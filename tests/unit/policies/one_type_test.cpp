// Jobs that ask for particular nodes, of more than one type, and may not mix types: each waits for slots of one type.
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/victim_pool.hpp"

namespace tidepool::policies::cluster {
namespace {

using Ids = std::vector<JobId>;

Ids victims_of(const core::Decision& decision) {
  Ids victims;
  for (const auto& planned : decision.plan) {
    const auto* intent = std::get_if<core::PreemptIntent>(&planned.intent);
    if (intent != nullptr) victims.push_back(intent->job);
  }
  return victims;
}

struct TwoTypes : VictimPool {
  TwoTypes() : VictimPool({}) {}

  NodeId node_of(const std::string& type, int slots) {
    const std::string name = "n" + std::to_string(story.state().next_node);
    const NodeId id = story.engine().node_id_for(name);
    story.learn(core::NodeJoined{id, name, slots, type, Money(), {}});
    return id;
  }
  JobId running_on(const std::string& type, int size) {
    core::JobSpec spec = test::job_spec({.min = size, .max = size});
    spec.slot_types = {type};
    const JobId id = submit(spec, size);
    story.settle(id);
    REQUIRE(story.job(id).size() == size);
    return id;
  }
  JobId submit_with_memory(int size) {
    core::JobSpec spec = test::job_spec({.min = size, .max = size});
    spec.memory = 1;
    return submit(spec, size);
  }
  [[nodiscard]] NodeId node_of_first_worker(JobId job) const {
    return story.worker(story.job(job).membership.members.front()).node;
  }
};

}  // namespace

TEST_CASE("free slots of two types do not count as room for a job that asks for memory: one is preempted for it") {
  TwoTypes pool;
  const NodeId large = pool.node_of("a", 8);
  const NodeId other = pool.node_of("b", 4);
  const JobId victim = pool.running_on("a", 4);
  const JobId claimant = pool.submit_with_memory(8);
  const JobId behind = pool.submit({.min = 1, .max = 1}, 1);
  pool.said->sizes[victim] = 0;
  pool.said->order = {claimant, behind, victim};
  CHECK(victims_of(pool.story.decide()) == Ids{victim});
  pool.story.settle(behind);
  REQUIRE(pool.story.job(behind).size() == 1);
  CHECK(pool.node_of_first_worker(behind) == other);
  pool.story.settle(victim);
  pool.story.settle(claimant);
  REQUIRE(pool.story.job(claimant).size() == 8);
  CHECK(pool.node_of_first_worker(claimant) == large);
}

TEST_CASE("a gang whose workers have several slots waits for one type: those behind it start on the other") {
  TwoTypes pool;
  const NodeId large = pool.node_of("a", 4);
  const NodeId other = pool.node_of("b", 2);
  const JobId victim = pool.running_on("a", 1);
  const JobId gang = pool.submit({.min = 1, .max = 1, .gpus = 4}, 4);  // of slots
  const JobId behind = pool.submit({.min = 1, .max = 1}, 1);
  pool.said->sizes[victim] = 0;
  pool.said->order = {gang, behind, victim};
  CHECK(victims_of(pool.story.decide()) == Ids{victim});
  pool.story.settle(behind);
  REQUIRE(pool.story.job(behind).size() == 1);
  CHECK(pool.node_of_first_worker(behind) == other);
  const JobId late = pool.submit({.min = 2, .max = 2}, 2);  // for which only the gang's type has room
  pool.said->order = {gang, behind, late, victim};
  pool.story.decide();
  CHECK(pool.story.job(late).state() == core::JobState::kPending);
  pool.story.settle(victim);
  pool.story.settle(gang);
  REQUIRE(pool.story.job(gang).size() == 1);
  CHECK(pool.node_of_first_worker(gang) == large);
}

TEST_CASE("no job is preempted on one type for a job that will have room on another") {
  TwoTypes pool;
  (void)pool.node_of("a", 8);
  (void)pool.node_of("b", 8);
  const JobId stays = pool.running_on("a", 2);
  const JobId ends = pool.running_on("b", 8);
  pool.story.learn(core::JobCancelRequested{ends});
  pool.story.decide();
  const JobId claimant = pool.submit_with_memory(8);
  CHECK(pool.preempted_for(claimant, {stays}).empty());
}

TEST_CASE("where the type with most free slots cannot be emptied for a job, others are preempted on another type") {
  TwoTypes pool;
  (void)pool.node_of("a", 8);
  (void)pool.node_of("b", 8);
  const JobId stays = pool.running_on("a", 1);
  const JobId victim = pool.running_on("b", 4);
  const JobId claimant = pool.submit_with_memory(8);
  pool.said->sizes[stays] = 1;
  pool.said->order = {claimant, stays, victim};
  pool.said->sizes[victim] = 0;
  CHECK(victims_of(pool.story.decide()) == Ids{victim});
}

TEST_CASE("others give way on its nodes for what a running job that asks for memory is to have more") {
  TwoTypes pool;
  (void)pool.node_of("a", 4);
  core::JobSpec spec = test::job_spec({.min = 1, .max = 4, .cooldown = {}});
  spec.memory = 1;
  const JobId grows = pool.submit(spec, 2);
  pool.story.settle(grows);
  REQUIRE(pool.story.job(grows).size() == 2);
  const NodeId other = pool.node_of("b", 2);
  const JobId victim = pool.running_on("a", 2);
  const JobId elsewhere = pool.running_on("b", 1);
  const JobId behind = pool.submit({.min = 2, .max = 2}, 2);
  pool.said->sizes[grows] = 4;
  pool.said->sizes[victim] = pool.said->sizes[elsewhere] = 0;
  pool.said->order = {grows, behind, elsewhere, victim};
  const Ids given_way = victims_of(pool.story.decide());
  CHECK(std::find(given_way.begin(), given_way.end(), victim) != given_way.end());
  pool.story.exit(pool.story.job(victim).membership.workers.front());
  const JobId late = pool.submit({.min = 1, .max = 1}, 1);
  pool.story.decide();
  CHECK(pool.story.job(late).state() == core::JobState::kPending);
  for (int round = 0; round < 3; ++round) {
    for (const JobId id : {victim, elsewhere, grows, behind}) pool.story.settle(id);
  }
  CHECK(pool.story.job(grows).size() == 4);
  REQUIRE(pool.story.job(behind).size() == 2);
  CHECK(pool.node_of_first_worker(behind) == other);
}

TEST_CASE("others give way in its rack for what a running job that has to be in one rack is to have more") {
  TwoTypes pool;
  const NodeId one = pool.node_of("a", 4);
  const NodeId two = pool.node_of("a", 4);
  pool.story.learn(core::NodeLabelled{one, {{"rack", "r1"}}});
  pool.story.learn(core::NodeLabelled{two, {{"rack", "r2"}}});
  core::JobSpec packed = test::job_spec({.min = 2, .max = 4, .cooldown = {}});
  packed.placement.strategy = core::TopologyStrategy::kStrictPack;
  packed.placement.key = "rack";
  const JobId grows = pool.submit(packed, 2);
  pool.story.settle(grows);
  const NodeId own = pool.node_of_first_worker(grows);
  const JobId victim = pool.running_on("a", 2);
  REQUIRE(pool.node_of_first_worker(victim) == own);
  const JobId elsewhere = pool.running_on("a", 2);
  REQUIRE(pool.node_of_first_worker(elsewhere) != own);
  pool.said->sizes[grows] = 4;
  pool.said->sizes[victim] = pool.said->sizes[elsewhere] = 0;
  pool.said->order = {grows, victim, elsewhere};
  (void)pool.submit({.min = 1, .max = 1}, 0);  // so that a new plan is due
  CHECK(victims_of(pool.story.decide()) == Ids{victim});
  for (int round = 0; round < 3; ++round) {
    for (const JobId id : {victim, grows}) pool.story.settle(id);
  }
  CHECK(pool.story.job(elsewhere).size() == 2);
  REQUIRE(pool.story.job(grows).size() == 4);
  for (const WorkerId id : pool.story.job(grows).membership.members) CHECK(pool.story.worker(id).node == own);
}

TEST_CASE("a job whose workers are on a node each has others give way for one more") {
  TwoTypes pool;
  for (int node = 0; node < 2; ++node) (void)pool.node_of("a", 2);
  core::JobSpec spread = test::job_spec({.min = 1, .max = 2, .cooldown = {}});
  spread.placement.strategy = core::TopologyStrategy::kStrictSpread;
  const JobId grows = pool.submit(spread, 1);
  pool.story.settle(grows);
  const NodeId own = pool.node_of_first_worker(grows);
  const JobId victim = pool.running_on("a", 2);  // all of the other node
  REQUIRE(pool.node_of_first_worker(victim) != own);
  pool.said->sizes[grows] = 2;
  pool.said->sizes[victim] = 0;
  pool.said->order = {grows, victim};
  (void)pool.submit({.min = 1, .max = 1}, 0);             // so that a new plan is due
  CHECK(victims_of(pool.story.decide()) == Ids{victim});  // the free slot beside its own worker is no room for it
  for (int round = 0; round < 3; ++round) {
    for (const JobId id : {victim, grows}) pool.story.settle(id);
  }
  CHECK(pool.story.job(grows).size() == 2);
}

TEST_CASE("a job whose workers are on a node each waits for nodes of one type") {
  TwoTypes pool;
  for (int node = 0; node < 3; ++node) (void)pool.node_of("a", 1);
  (void)pool.node_of("b", 1);
  const JobId victim = pool.running_on("a", 1);
  core::JobSpec spread = test::job_spec({.min = 3, .max = 3});
  spread.placement.strategy = core::TopologyStrategy::kStrictSpread;
  const JobId claimant = pool.submit(spread, 3);
  CHECK(pool.preempted_for(claimant, {victim}) == Ids{victim});
  pool.story.settle(victim);
  pool.story.settle(claimant);
  CHECK(pool.story.job(claimant).size() == 3);
}

TEST_CASE("a job that has to be in one domain waits for slots of one type there") {
  TwoTypes pool;
  const NodeId one = pool.node_of("a", 4);
  const NodeId two = pool.node_of("b", 4);
  const JobId victim = pool.running_on("a", 2);
  const JobId stays = pool.running_on("b", 2);
  core::JobSpec packed = test::job_spec({.min = 4, .max = 4});
  packed.placement.strategy = core::TopologyStrategy::kStrictPack;
  packed.placement.key = "rack";
  for (const NodeId node : {one, two}) pool.story.learn(core::NodeLabelled{node, {{"rack", "r1"}}});
  const JobId claimant = pool.submit(packed, 4);
  pool.said->sizes[stays] = 2;
  pool.said->order = {claimant, stays, victim};
  pool.said->sizes[victim] = 0;
  CHECK(victims_of(pool.story.decide()) == Ids{victim});
}

}  // namespace tidepool::policies::cluster
