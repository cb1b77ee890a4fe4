// Nodes of pools for jobs whose workers come in groups: one domain has to hold each group.
#include "core/explain/current_reason.hpp"
#include "core/explain/explain.hpp"
#include "core/provision/node_orders.hpp"
#include "tests/support/pool_story.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

core::PoolSpec nodes_of(int slots) {
  core::PoolSpec pool = gpu_pool();
  pool.slots_per_node = slots;
  return pool;
}

JobSketch one_group(int workers) {
  return {.min = workers, .max = workers, .group = workers};
}

JobId submit_by(PoolStory& story, const std::string& key, const JobSketch& sketch) {
  core::JobSpec spec = job_spec(sketch);
  spec.placement.key = key;
  const JobId job = story.engine().next_job_id();
  story.learn(core::JobSubmitted{job, spec});
  return job;
}

TEST_CASE("A group that no node has room for gets a node that holds it, however many slots are free on others") {
  PoolStory story({nodes_of(4)});
  story.node(3);
  story.node(3);
  const JobId job = story.submit(one_group(4));
  CHECK(story.plan() ==
        std::vector<std::string>{"gpu-1: one more node for job-1, which needs 4 slots: present and coming nodes have "
                                 "room for none; a node of 4 slots costs 4 an hour and joins in about 30 s"});
  CHECK(story.plan().empty());
  const core::Explanation told = core::explain(story.state(), job);
  CHECK(told.summary ==
        "waits for nodes: it needs a group of 4 slots on one node, and there is room for none; with all that its pools "
        "may have there is room for 4");
  CHECK_FALSE(core::cannot_start(story.job(job), told.reason));
  CHECK(told.evidence.front() == "gpu-1 was requested 0 s ago; nodes of pool gpu take about 30 s");
  story.learn(core::PoolNodeCreated{1, "i-1", {}});
  const NodeId node = story.node(4, "gpu-1");
  CHECK(story.plan().empty());
  CHECK(story.nodes_of(job) == std::vector<NodeId>(4, node));
}

TEST_CASE("What is left beside whole groups on a node counts as room for none") {
  PoolStory story({nodes_of(4)});
  story.node(5);
  story.submit(one_group(4));
  story.submit({.min = 6, .max = 6, .group = 2});
  const auto said = story.plan();
  REQUIRE(said.size() == 2);  // one slot is left on the first node, and four are on each of these
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: 2 more nodes for job-2, which needs 6 slots"));
}

TEST_CASE("A job with more groups than its pools may ever hold is told so, with what would help") {
  PoolStory story({nodes_of(4)});
  story.node(4);
  const JobId job = story.submit({.min = 24, .max = 24, .group = 4});
  CHECK(story.plan().empty());
  const core::Explanation told = core::explain(story.state(), job);
  CHECK(told.summary ==
        "cannot start: it needs 6 groups of 4 slots, each on one node, and there is room for 1, and for 5 with all "
        "nodes that its pools may have");
  CHECK(core::cannot_start(story.job(job), told.reason));
  CHECK(std::any_of(told.advice.begin(), told.advice.end(),
                    [](const auto& advice) { return advice.text == "raise max of pool gpu, which is 4 nodes"; }));
}

TEST_CASE("No node is asked for that is too small for a group, unless groups may be on several nodes of its type") {
  PoolStory story({nodes_of(2)});
  submit_by(story, "node", one_group(4));
  submit_by(story, "rack", one_group(4));
  CHECK(story.plan().empty());
  const JobId job = submit_by(story, "slot_type", one_group(4));
  const auto said = story.plan();
  REQUIRE(said.size() == 2);
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: 2 more nodes for " + job.text() + ", which needs 4 slots"));
}

TEST_CASE("By the type of slots a group is made up of what is free and of nodes more") {
  PoolStory story({nodes_of(2)});
  story.node(3);
  submit_by(story, "slot_type", {.min = 4, .max = 4, .group = 2});
  CHECK(story.plan().size() == 1);

  PoolStory other({nodes_of(2)});
  other.learn(core::NodeJoined{other.engine().node_id_for("own"), "own", 3, "gpu", Money::micros(1'000'000), {}});
  submit_by(other, "slot_type", {.min = 4, .max = 4, .group = 2});
  CHECK(other.plan().size() == 2);  // what is free there is of another type
}

TEST_CASE("A group whose node is drained needs room for all of its workers") {
  PoolStory story({nodes_of(2)});
  const NodeId first = story.node(1);
  for (const NodeId node : {first, story.node(1)}) story.learn(core::NodeLabelled{node, {{"rack", "r1"}}});
  const JobId job = submit_by(story, "rack", one_group(2));
  story.settle(job);
  REQUIRE(story.job(job).state() == core::JobState::kRunning);
  story.learn(core::NodeDrainRequested{first, Duration::seconds(600), ""});
  const auto needs = core::moving_workers(story.state(), story.now());
  REQUIRE(needs.size() == 1);
  CHECK(needs.front().workers == 2);
  const auto said = story.plan();
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: one more node for " + job.text() + ", which needs 2 slots"));
}

// A job of one group of 4 that may have a second one runs on a node of so many slots.
JobId one_of_two_groups(PoolStory& story, int slots) {
  story.node(slots);
  const JobId job = story.running({.min = 4, .max = 8, .cooldown = {}, .group = 4}, 4);
  story.steps(job, 20);
  return job;
}

// Of 100 ms each, with so many samples.
void twenty_steps(PoolStory& story, JobId id, std::int64_t samples) {
  const core::Job& job = story.job(id);
  core::StepsMeasured report{.job = id,
                             .generation = job.membership.generation,
                             .last_step = job.progress.step + 20,
                             .steps = 20,
                             .elapsed = Duration::seconds(2),
                             .samples = 20 * samples};
  report.shares = job.shares.used.number;
  story.pass(report.elapsed);
  story.learn(std::move(report));
}

// What is said of nodes once there are such pools, and the policy wants the job to have so many workers.
std::vector<std::string> said_of(PoolStory& story, JobId job, int wish, const core::PoolSpec& pool) {
  story.wish(job, wish);
  story.decide();
  story.learn(core::PoolsConfigured{1, {pool}});
  return story.plan();
}

TEST_CASE("A job that runs gets a node for a whole group more, and grows to it") {
  PoolStory story(std::vector<core::PoolSpec>{});
  const JobId job = one_of_two_groups(story, 4);
  CHECK(said_of(story, job, 8, nodes_of(4)) ==
        std::vector<std::string>{
            "gpu-1: one more node for job-1 to grow 4 -> 8: each slot more would be used to 70 %, which pays for it; a "
            "node of 4 slots costs 4 an hour and joins in about 30 s"});
  story.learn(core::PoolNodeCreated{1, "i-1", {}});
  const NodeId node = story.node(4, "gpu-1");
  story.settle(job);
  CHECK(story.job(job).size() == 8);
  const auto nodes = story.nodes_of(job);
  CHECK(std::count(nodes.begin(), nodes.end(), node) == 4);
  CHECK(story.plan().empty());
}

TEST_CASE("A node that holds a group which does not pay is emptied, and the job gives up that group") {
  for (const bool pays : {false, true}) {
    PoolStory story(std::vector<core::PoolSpec>{});
    const JobId job = one_of_two_groups(story, 4);
    core::PoolSpec pool = nodes_of(4);
    REQUIRE(said_of(story, job, 8, pool).size() == 1);
    story.learn(core::PoolNodeCreated{1, "i-1", {}});
    const NodeId node = story.node(4, "gpu-1");
    story.settle(job);
    REQUIRE(story.job(job).size() == 8);
    twenty_steps(story, job, pays ? 128 : 64);  // of 64 samples with one group
    CHECK(story.plan().empty());
    story.pass(pool.idle);
    const auto said = story.plan();
    REQUIRE(said.size() == (pays ? 0 : 1));
    if (pays) continue;
    CHECK(said.front() == "gpu-1: emptied: without it jobs lose less than the 1 an hour that each of its slots costs");
    story.settle(job);
    CHECK(story.job(job).size() == 4);
    const auto nodes = story.nodes_of(job);
    CHECK(std::count(nodes.begin(), nodes.end(), node) == 0);
  }
}

TEST_CASE("No node is bought for a group that does not fit on it, that does not pay, or that has room already") {
  for (const int slots : {3, 4, 7}) {  // of a node of the pool
    PoolStory story(std::vector<core::PoolSpec>{});
    const JobId job = one_of_two_groups(story, 4);
    core::PoolSpec pool = nodes_of(slots);
    if (slots == 4) pool.worth_per_slot_hour = Money::micros(1'500'000);  // times 70 % less than 1.1 of its price
    CHECK(said_of(story, job, 8, pool).empty());                          // 3 of 7 slots would be of no use
  }
  PoolStory story(std::vector<core::PoolSpec>{});
  const JobId job = one_of_two_groups(story, 8);
  CHECK(said_of(story, job, 4, nodes_of(4)).empty());  // the policy does not use what is free
}

TEST_CASE("What is free beside whole groups keeps no job from getting a node for another group") {
  PoolStory story(std::vector<core::PoolSpec>{});
  const JobId job = one_of_two_groups(story, 7);
  CHECK(said_of(story, job, 8, nodes_of(4)).size() == 1);
}

TEST_CASE("A group of which slots are free is made whole by nodes of its type, if it may be on several of them") {
  for (const char* key : {"node", "slot_type"}) {
    PoolStory story(std::vector<core::PoolSpec>{});
    story.node(6);
    const JobId job = submit_by(story, key, {.min = 4, .max = 8, .preferred = 4, .cooldown = {}, .group = 4});
    story.wish(job, 4);
    story.settle(job);
    story.steps(job, 20);
    CHECK(said_of(story, job, 8, nodes_of(2)).size() == (std::string(key) == "node" ? 0 : 1));
  }
}

// A job of one group of 4 that is to have two; its pool has nodes of 2 slots, and its slots are all in use.
JobId wants_two_nodes(PoolStory& story) {
  story.node(4);
  const JobId job = submit_by(story, "slot_type", {.min = 4, .max = 8, .preferred = 4, .cooldown = {}, .group = 4});
  story.wish(job, 4);
  story.settle(job);
  story.steps(job, 20);
  return job;
}

TEST_CASE("A group that needs two nodes gets both at once, where the pool may have both") {
  for (const int max : {1, 2}) {
    PoolStory story(std::vector<core::PoolSpec>{});
    const JobId job = wants_two_nodes(story);
    core::PoolSpec pool = nodes_of(2);
    pool.max = max;
    const auto said = said_of(story, job, 8, pool);
    REQUIRE(said.size() == (max == 2 ? 2 : 0));
    if (max == 1) continue;
    CHECK_THAT(said.back(), Catch::StartsWith("gpu-2: one more node for job-1 to grow 4 -> 8"));
    (void)story.joins(1);
    (void)story.joins(2);
    story.settle(job);
    CHECK(story.job(job).size() == 8);
  }
}

TEST_CASE("Of nodes that were asked for together none is given back as idle before all are there") {
  PoolStory story(std::vector<core::PoolSpec>{});
  const JobId job = wants_two_nodes(story);
  core::PoolSpec pool = nodes_of(2);
  pool.idle = Duration::seconds(10);
  REQUIRE(said_of(story, job, 8, pool).size() == 2);
  (void)story.joins(1);
  story.pass(Duration::seconds(15));
  CHECK(story.plan().empty());
  story.wish(job, 4);
  (void)story.joins(2);
  story.pass(Duration::seconds(15));
  CHECK(story.plan().size() == 2);
}

// Two nodes were asked for, the first has come, and the second has not joined in time.
struct OneOfTwoCame {
  PoolStory story{std::vector<core::PoolSpec>{}};
  JobId job = wants_two_nodes(story);

  OneOfTwoCame(Duration idle, Duration lead_time) {
    core::PoolSpec pool = nodes_of(2);
    pool.idle = idle;
    pool.lead_time = lead_time;
    REQUIRE(said_of(story, job, 8, pool).size() == 2);
    (void)story.joins(1);
    story.learn(core::PoolNodeCreated{2, "i-2", {}});
    story.pass(core::join_patience(pool));
  }
};

TEST_CASE("A node that has failed to come is asked for once more, and what came with it stays until then") {
  OneOfTwoCame came(Duration::seconds(20), Duration::seconds(30));
  PoolStory& story = came.story;
  CHECK(story.plan() == std::vector<std::string>{"gpu-2: given back: no agent has joined from it within 2 min"});
  story.pass(Duration::seconds(14));
  CHECK(story.plan().empty());
  story.pass(Duration::seconds(1));
  const auto said = story.plan();
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-3: one more node for job-1 to grow 4 -> 8"));
  CHECK_THAT(said.front(), Catch::EndsWith("; 1 node that came earlier is kept until then"));
  story.pass(Duration::seconds(25));
  CHECK(story.plan().empty());
  CHECK(story.asked(1).state == core::PoolNodeState::kJoined);
  (void)story.joins(3);
  story.decide();
  CHECK(story.job(came.job).membership.workers.size() == 8);
}

TEST_CASE("If it fails to come again, what came with it is given back, and all are asked for after the wait") {
  OneOfTwoCame came(Duration::seconds(20), Duration::seconds(30));
  PoolStory& story = came.story;
  REQUIRE(story.plan().size() == 1);
  story.pass(Duration::seconds(15));
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolNodeCreateFailed{3, core::ProviderFault::kRefused, "out of stock"});
  const auto said = story.plan();
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: given back: it has held nothing for"));
  for (const core::NodeRequest request : {1U, 2U}) story.learn(core::PoolNodeDeleted{request});
  story.lists({});
  CHECK(story.state().pools.nodes.empty());
  story.pass(Duration::seconds(30));
  CHECK(story.plan().size() == 2);
}

TEST_CASE("No node waits for another of which its pool waits for longer than a node may be idle or takes to come") {
  OneOfTwoCame came(Duration::seconds(5), Duration::seconds(10));
  const auto said = came.story.plan();
  REQUIRE(said.size() == 2);
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-2: given back: no agent has joined"));
  CHECK_THAT(said.back(), Catch::StartsWith("gpu-1: given back: it has held nothing for"));
}

TEST_CASE("What came of two nodes for one step does not count as slots that the policy leaves unused") {
  PoolStory story(std::vector<core::PoolSpec>{});
  story.node(2);
  JobSketch sketch{.min = 2, .max = 6, .cooldown = {}};
  sketch.sizes = {2, 6};
  const JobId job = story.running(sketch, 2);
  story.steps(job, 20);
  REQUIRE(said_of(story, job, 6, nodes_of(2)).size() == 2);
  (void)story.joins(1);
  story.learn(core::PoolNodeCreateFailed{2, core::ProviderFault::kRefused, "out of stock"});
  CHECK(story.plan().empty());
  story.pass(Duration::seconds(15));
  const auto said = story.plan();
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-2: one more node for job-1 to grow 2 -> 6"));
  (void)story.joins(3);
  story.settle(job);
  CHECK(story.job(job).size() == 6);
}

TEST_CASE("A step of two groups gets a node for each, though one alone would be of no use") {
  PoolStory story(std::vector<core::PoolSpec>{});
  story.node(4);
  JobSketch sketch{.min = 4, .max = 12, .cooldown = {}, .group = 4};
  sketch.sizes = {4, 12};
  const JobId job = story.running(sketch, 4);
  story.steps(job, 20);
  core::PoolSpec pool = nodes_of(4);
  pool.worth_per_slot_hour = Money::micros(3'000'000);
  CHECK(said_of(story, job, 12, pool).size() == 2);
}

TEST_CASE("A group that brings more together is not held up by a job that would take one of its slots") {
  PoolStory story(std::vector<core::PoolSpec>{});
  const JobId job = one_of_two_groups(story, 5);
  const JobId small = story.running({.min = 1, .max = 2, .cooldown = {}}, 1);
  story.steps(small, 20);
  const auto said = said_of(story, job, 8, nodes_of(4));
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: one more node for job-1 to grow 4 -> 8"));
}

TEST_CASE("A node that holds the only group of a job is emptied only where another node has room for it") {
  for (const bool has_room : {false, true}) {
    core::PoolSpec pool = nodes_of(2);
    pool.min = 1;
    PoolStory story({pool});
    REQUIRE(story.plan().size() == 1);
    (void)story.joins(1);
    const JobId job = story.submit(one_group(2));
    story.settle(job);
    REQUIRE(story.job(job).state() == core::JobState::kRunning);
    story.node(has_room ? 2 : 1);
    if (!has_room) story.node(1);
    pool.min = 0;
    story.learn(core::PoolsConfigured{1, {pool}});
    (void)story.plan();
    story.pass(pool.idle);
    const auto said = story.plan();
    REQUIRE(said.size() == (has_room ? 1 : 0));
    if (has_room) CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: emptied"));
  }
}

}  // namespace
}  // namespace tidepool::test
