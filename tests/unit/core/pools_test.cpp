// Nodes of pools: what makes one come and go, and what is said of it.
#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "tests/support/pool_story.hpp"

namespace tidepool::test {

TEST_CASE("a gang that fits nowhere gets as many nodes as it lacks, once, and none if they are too few") {
  PoolStory story;
  CHECK(story.count("pool.configured") == 1);
  const JobId job = story.submit({.min = 3, .max = 3});
  CHECK(story.plan() ==
        std::vector<std::string>{"gpu-1: 2 more nodes for job-1, which needs 3 slots: present and coming nodes have "
                                 "room for none; a node of 2 slots costs 2 an hour and joins in about 30 s",
                                 "gpu-2: 2 more nodes for job-1, which needs 3 slots: present and coming nodes have "
                                 "room for none; a node of 2 slots costs 2 an hour and joins in about 30 s"});
  CHECK(story.plan().empty());
  const auto evidence = core::explain(story.state(), job).evidence;
  CHECK(evidence.front() == "gpu-1 was requested 0 s ago; nodes of pool gpu take about 30 s");
  story.joins(1);
  CHECK(story.plan().empty());  // it waits for the other, and keeps this one
  story.pass(Duration::seconds(90));
  CHECK(story.plan().empty());
  story.joins(2);
  CHECK(story.plan().empty());
  CHECK(story.job(job).state() == core::JobState::kStarting);

  PoolStory small({gpu_pool(1)});
  small.submit({.min = 3, .max = 3});
  CHECK(small.plan().empty());
}

TEST_CASE("a node that holds nothing is given back after its idle time, and forgotten when its provider lacks it") {
  PoolStory story;
  const JobId job = story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  const NodeId node = story.joins(1);
  story.settle(job);
  story.learn(core::JobCancelRequested{job});
  (void)story.plan();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(job).membership.workers)) story.exit(worker);
  (void)story.plan();
  story.pass(Duration::seconds(59));
  CHECK(story.plan().empty());
  REQUIRE(story.engine().next_due());
  CHECK(*story.engine().next_due() <= story.now() + Duration::seconds(1));
  story.pass(Duration::seconds(1));
  CHECK(story.plan() ==
        std::vector<std::string>{
            "gpu-1: given back: it has held nothing for 60 s and costs 2 an hour; the pool keeps 0 nodes"});
  CHECK(story.state().find_node(node)->is_closed());
  story.learn(core::PoolNodeDeleted{1});
  story.lists({1});
  CHECK(story.asked(1).delete_answered);
  story.pass(Duration::seconds(16));
  story.lists({1});
  CHECK_FALSE(story.asked(1).delete_answered);  // it is ended again
  story.learn(core::PoolNodeDeleted{1});
  story.lists({});
  CHECK(story.state().pools.nodes.empty());
  CHECK(story.count("pool.node_gone") == 1);
}

TEST_CASE("a provider that refuses is asked again later and later, and a cheaper pool falls back on a dearer one") {
  core::PoolSpec spot = gpu_pool();
  spot.name = "spot";
  spot.spot = true;
  spot.price_per_slot_hour = Money::micros(300'000);
  PoolStory story({gpu_pool(), spot});
  const JobId job = story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().front().starts_with("spot-1: one more node for job-1"));
  story.learn(core::PoolNodeCreateFailed{1, core::ProviderFault::kQuota, "no more than 4"});
  CHECK(story.state().pools.find("spot")->backoff.until == story.now() + Duration::seconds(15));
  REQUIRE(story.plan().front().starts_with("gpu-1: "));
  story.learn(core::PoolNodeCreateFailed{2, core::ProviderFault::kRefused, "out of stock"});
  CHECK(story.plan().empty());
  const auto evidence = core::explain(story.state(), job).evidence;
  CHECK(std::find(evidence.begin(), evidence.end(),
                  "pool spot has failed 1 time in a row, and is tried again in 15 s: no more than 4") !=
        evidence.end());
  CHECK(story.engine().next_due() == story.now() + Duration::seconds(15));
  story.pass(Duration::seconds(15));
  REQUIRE(story.plan().front().starts_with("spot-1: "));
  story.learn(core::PoolNodeCreateFailed{3, core::ProviderFault::kQuota, "no more than 4"});
  CHECK(story.state().pools.find("spot")->backoff.until == story.now() + Duration::seconds(30));
}

TEST_CASE("nodes that are asked for together and fail are one attempt, however many they are") {
  PoolStory story({gpu_pool()});
  (void)story.submit({.min = 4, .max = 4});
  const std::size_t asked = story.plan().size();
  REQUIRE(asked >= 2);
  const auto all_fail = [&](std::uint64_t first) {
    for (std::uint64_t request = first; request < first + asked; ++request) {
      story.learn(core::PoolNodeCreateFailed{request, core::ProviderFault::kRefused, "no answer"});
    }
  };
  all_fail(1);
  const core::Backoff& backoff = story.state().pools.find("gpu")->backoff;
  CHECK(backoff.failures == 1);
  CHECK(backoff.until == story.now() + Duration::seconds(15));
  story.pass(Duration::seconds(15));
  REQUIRE(story.plan().size() == asked);
  all_fail(1 + asked);
  CHECK(backoff.failures == 2);
  CHECK(backoff.until == story.now() + Duration::seconds(30));
}

TEST_CASE("an answer that came too late or not at all leaves nothing running") {
  PoolStory story;
  story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolNodeCreateFailed{1, core::ProviderFault::kTimeout, "no answer"});
  CHECK(story.asked(1).state == core::PoolNodeState::kReleasing);  // it may be there
  story.lists({1, 77});
  CHECK(story.asked(77).state == core::PoolNodeState::kReleasing);  // nothing speaks of it
  CHECK(story.state().pools.next_request == 78);
  const NodeId late = story.node(2, "gpu-1");
  CHECK(story.state().find_node(late)->is_closed());
}

TEST_CASE("a node that does not join is given back, one whose agent is away later on, and both are replaced") {
  PoolStory story;
  const JobId job = story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolNodeCreated{1, "i-1", {}});
  story.pass(Duration::seconds(120));
  CHECK(story.plan() == std::vector<std::string>{"gpu-1: given back: no agent has joined from it within 2 min"});
  story.pass(Duration::seconds(15));
  REQUIRE(story.plan().front().starts_with("gpu-2: one more node for job-1"));
  const NodeId node = story.joins(2);
  story.learn(core::PoolNodeDeleted{1});
  story.settle(job);
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.lists({2});
  CHECK(story.asked(2).state == core::PoolNodeState::kJoined);
  story.lists({});  // the list lacks it: the proof that its workers are dead
  CHECK(story.state().pools.find_node(2) == nullptr);
  CHECK(story.job(job).membership.workers.empty());
  const auto again = story.plan();
  INFO(core::explain(story.state(), job).summary);
  REQUIRE(again.size() == 1);
  CHECK(again.front().starts_with("gpu-1: one more node for job-1"));
}

TEST_CASE("nodes that came for a gang are kept while one that failed to come is asked for again, and its job says so") {
  PoolStory story;
  const JobId job = story.submit({.min = 3, .max = 3});
  REQUIRE(story.plan().size() == 2);
  story.joins(1);
  story.learn(core::PoolNodeCreated{2, "i-2", {}});
  story.pass(Duration::seconds(120));  // twice as long as a node may be idle
  CHECK(story.plan() == std::vector<std::string>{"gpu-2: given back: no agent has joined from it within 2 min"});
  const auto evidence = core::explain(story.state(), job).evidence;
  CHECK(std::find(evidence.begin(), evidence.end(),
                  "gpu-1 lacks a node that was requested with it, and is kept while that node is requested again") !=
        evidence.end());
  story.pass(Duration::seconds(14));
  CHECK(story.plan().empty());
  story.pass(Duration::seconds(1));
  CHECK(story.plan() ==
        std::vector<std::string>{
            "gpu-3: one more node for job-1, which needs 3 slots: present and coming nodes have room for 2; a node of "
            "2 slots costs 2 an hour and joins in about 30 s; 1 node that came earlier is kept until then"});
  story.joins(3);
  CHECK(story.plan().empty());
  CHECK(story.job(job).state() == core::JobState::kStarting);
}

TEST_CASE(
    "a node that its provider has not been asked for yet is not given up, and one without any answer is in the end") {
  PoolStory story;
  story.submit({.min = 3, .max = 3});
  REQUIRE(story.plan().size() == 2);
  const Instant asked = story.now();
  story.pass(Duration::seconds(400));  // calls come one after another, and one took so long
  story.learn(core::PoolNodeCreated{1, "i-1", {}});
  CHECK(story.plan().empty());
  REQUIRE(story.engine().next_due());
  CHECK(*story.engine().next_due() <= story.now() + Duration::seconds(120));
  story.pass(Duration::seconds(119));
  CHECK(story.plan().empty());
  story.pass(Duration::seconds(1));
  CHECK(story.plan() == std::vector<std::string>{"gpu-1: given back: no agent has joined from it within 2 min"});
  CHECK(story.asked(2).state == core::PoolNodeState::kAsked);
  story.pass(asked + Duration::seconds(4 * 3'600 + 119) - story.now());
  for (const std::string& said : story.plan()) CHECK_THAT(said, !Catch::StartsWith("gpu-2: given back"));
  REQUIRE(story.asked(2).state == core::PoolNodeState::kAsked);
  story.pass(Duration::seconds(1));
  (void)story.plan();
  CHECK(story.asked(2).state == core::PoolNodeState::kReleasing);
}

TEST_CASE("a node that joins with less memory than its pool tells is a failure, and not followed by another at once") {
  core::PoolSpec pool = gpu_pool();
  pool.memory_per_slot = 4'000;
  PoolStory story({pool});
  core::JobSpec spec = job_spec({.min = 1, .max = 1});
  spec.memory = 4'000;
  story.learn(core::JobSubmitted{story.engine().next_job_id(), spec});
  REQUIRE(story.plan().size() == 1);
  core::NodeJoined small{story.engine().node_id_for("gpu-1"), "gpu-1", 2, "cpu", Money::micros(1'000'000), {}};
  small.memory_per_slot = 3'999;
  story.learn(small);
  CHECK(story.last("pool.create_failed").data["fault"] == "too_little_memory");
  CHECK(story.last("pool.create_failed").data["detail"] ==
        "gpu-1 has 3999 bytes of memory per slot, and memory_per_slot says 4000 bytes");
  CHECK(story.plan().empty());
}

TEST_CASE("no node is made for a job that asks for more memory than any pool tells") {
  core::PoolSpec told = gpu_pool();
  told.memory_per_slot = 4'000;
  core::PoolSpec silent = gpu_pool();
  silent.name = "other";
  PoolStory story({told, silent});
  core::JobSpec spec = job_spec({.min = 1, .max = 1});
  spec.memory = 4'001;
  story.learn(core::JobSubmitted{story.engine().next_job_id(), spec});
  CHECK(story.plan().empty());
}

TEST_CASE(
    "the end of a node that was given back is no reason to ask for another, and one that is too small is a failure") {
  PoolStory story;
  const JobId job = story.submit({.min = 1, .max = 1, .gpus = 2});
  REQUIRE(story.plan().size() == 1);
  const NodeId node = story.node(1, "gpu-1");
  CHECK(story.last("pool.create_failed").data["detail"] == "gpu-1 has 1 of the 2 slots that slots_per_node says");
  CHECK(story.plan().empty());  // and not one node after another
  story.learn(core::JobCancelRequested{job});
  story.pass(Duration::seconds(60));
  REQUIRE(story.plan().size() == 1);
  const auto changes = story.state().pools.changes;
  story.learn(core::PoolNodeDeleted{1});
  story.lists({});
  REQUIRE(story.state().pools.nodes.empty());
  story.learn(core::NodeLost{node, "no heartbeat"});
  CHECK(story.state().pools.changes == changes);
}

TEST_CASE("a node whose lifetime ends is replaced and emptied before that, and given back") {
  PoolStory story;
  const JobId job = story.submit({.min = 1, .max = 1, .grace = Duration::seconds(10)});
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolNodeCreated{1, "i-1", Duration::seconds(1000)});
  story.node(2, "gpu-1");
  story.settle(job);
  story.steps(job, 2);
  CHECK(story.plan().empty());
  story.pass(Duration::seconds(760));
  const auto said = story.plan();
  REQUIRE_FALSE(said.empty());
  CHECK(said.front().starts_with("gpu-1: emptied: its provider ends it in "));
  CHECK(story.asked(1).state == core::PoolNodeState::kDraining);
  CHECK(said.back().starts_with("gpu-2: one more node for job-1, which needs 1 slot"));
  story.joins(2);
  (void)story.plan();
  REQUIRE(story.job(job).state() == core::JobState::kSuspending);  // at once, not at the last moment
  story.learn(core::WorkerExited{story.job(job).membership.workers.front(), {}});
  (void)story.plan();
  CHECK(story.asked(1).state == core::PoolNodeState::kReleasing);
  CHECK(story.job(job).state() == core::JobState::kStarting);
}

TEST_CASE("a job that runs gets a node where it would use it, and loses it where it does not") {
  PoolStory story(std::vector<core::PoolSpec>{});
  story.node(2);
  const JobId job = story.running({.min = 1, .max = 4, .cooldown = {}}, 2);
  story.wish(job, 4);
  story.steps(job, 20);
  story.decide();
  story.learn(core::PoolsConfigured{1, {gpu_pool()}});
  CHECK(story.plan() ==
        std::vector<std::string>{
            "gpu-1: one more node for job-1 to grow 2 -> 4: each slot more would be used to 79 %, which pays for it; a "
            "node of 2 slots costs 2 an hour and joins in about 30 s"});
  story.joins(1);
  story.settle(job);
  story.steps(job, 20);  // no faster than before
  CHECK(story.plan().empty());
  story.pass(Duration::seconds(60));
  CHECK(story.plan() ==
        std::vector<std::string>{
            "gpu-1: emptied: without it jobs lose less than the 1 an hour that each of its slots costs"});
  CHECK(story.plan().empty());
}

TEST_CASE("a gang gets no node while a job that runs can give slots for less than one costs, unless it waits on") {
  core::PoolSpec cheap = gpu_pool();
  cheap.worth_per_slot_hour = cheap.price_per_slot_hour;
  for (const bool may_give : {true, false}) {
    PoolStory story(std::vector<core::PoolSpec>{});
    story.node(2);
    const JobId job = story.running({.min = may_give ? 1 : 2, .max = 2, .cooldown = {}}, 2);
    story.wish(job, 2);
    story.steps(job, 20);
    story.decide();
    story.learn(core::PoolsConfigured{1, {cheap}});
    story.submit({.min = 1, .max = 1});
    CHECK(story.plan().size() == (may_give ? 0 : 1));
    if (!may_give) continue;
    REQUIRE(story.engine().next_due());
    CHECK(*story.engine().next_due() <= story.now() + Duration::seconds(30));
    story.pass(Duration::seconds(30));
    CHECK(story.plan().size() == 1);
  }
}

TEST_CASE("a job that waits again after it ran counts from then on") {
  core::PoolSpec cheap = gpu_pool();
  cheap.worth_per_slot_hour = cheap.price_per_slot_hour;
  PoolStory story(std::vector<core::PoolSpec>{});
  story.node(2);
  const JobId giver = story.running({.min = 1, .max = 2, .cooldown = {}}, 2);
  story.wish(giver, 2);
  story.steps(giver, 20);
  story.decide();
  const JobId waiting = story.submit({.min = 1, .max = 1});
  story.learn(core::JobSuspendRequested{waiting});
  (void)story.plan();
  story.learn(core::PoolsConfigured{1, {cheap}});
  story.pass(Duration::seconds(3600));
  story.learn(core::JobResumeRequested{waiting});
  CHECK(story.plan().empty());
  story.pass(Duration::seconds(30));
  CHECK(story.plan().size() == 1);
}

TEST_CASE("a node that its provider fails to end, or that has none any more, keeps no other pool from growing") {
  core::PoolSpec old = gpu_pool();
  old.name = "old";
  old.min = 1;
  core::PoolSpec emptied = old;
  emptied.min = emptied.max = 0;
  for (const bool retired : {false, true}) {
    PoolStory story({old});
    REQUIRE(story.plan().size() == 1);
    if (!retired) {
      story.joins(1);
      story.learn(core::PoolsConfigured{1, {emptied}});
      (void)story.plan();
      for (int attempt = 0; attempt < 2; ++attempt) {
        story.learn(core::PoolNodeDeleteFailed{1, core::ProviderFault::kRefused, "the key has expired"});
      }
      REQUIRE(story.asked(1).is_leaving());
    }
    story.node(2, "own");
    const JobId job = story.running({.min = 1, .max = 4, .cooldown = {}}, 2);
    story.wish(job, 4);
    story.steps(job, 20);
    story.decide();
    story.learn(core::PoolsConfigured{1, retired ? std::vector{gpu_pool()} : std::vector{gpu_pool(), emptied}});
    const auto said = story.plan();
    REQUIRE(said.size() == 1);
    CHECK_THAT(said.front(), Catch::StartsWith("gpu-1: one more node for job-1 to grow"));
  }
}

TEST_CASE("a node whose workers have room elsewhere is emptied, and the one that holds least is") {
  PoolStory story({gpu_pool(2)});
  const std::vector<JobId> jobs = story.three_on_two_nodes();
  story.pass(Duration::seconds(60));
  CHECK(story.plan().empty());  // three workers need both nodes
  story.ends(jobs.front());
  story.pass(Duration::seconds(60));
  const auto said = story.plan();
  REQUIRE_FALSE(said.empty());
  CHECK(said.front() == "gpu-1: emptied: without it jobs lose less than the 1 an hour that each of its slots costs");
}

TEST_CASE("a node that its pool empties stays if its drain is cancelled, and holds up no other") {
  PoolStory story({gpu_pool(2)});
  const std::vector<JobId> jobs = story.three_on_two_nodes();
  story.ends(jobs.front());
  story.pass(Duration::seconds(60));
  REQUIRE_FALSE(story.plan().empty());
  REQUIRE(story.asked(1).state == core::PoolNodeState::kDraining);
  story.learn(core::NodeDrainCancelled{story.asked(1).node});
  CHECK(story.asked(1).state == core::PoolNodeState::kJoined);
  CHECK(story.asked(1).since == story.now());
  CHECK(story.plan().empty());  // something has happened: it is looked at again after the idle time
  CHECK(story.asked(1).state == core::PoolNodeState::kJoined);
}

TEST_CASE("a node that its provider is told to end is not waited for, and to undrain it is not proposed") {
  PoolStory story({gpu_pool(1)});
  const JobId first = story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  const NodeId node = story.joins(1);
  story.settle(first);
  story.ends(first);
  const auto undrains_proposed = [&](JobId job) {
    (void)story.plan();
    const auto lines = core::explain(story.state(), job).unblocks();
    return std::count_if(lines.begin(), lines.end(),
                         [](const auto& any) { return any.starts_with("schedctl undrain"); });
  };
  story.learn(core::NodeDrainRequested{node, Duration::seconds(600), "firmware"});
  CHECK(undrains_proposed(story.submit({.min = 1, .max = 1})) > 0);
  story.learn(core::JobCancelRequested{JobId(2)});
  story.pass(Duration::seconds(61));
  (void)story.plan();
  REQUIRE(story.asked(1).state == core::PoolNodeState::kReleasing);
  REQUIRE(story.state().find_node(node)->state == core::NodeState::kUp);
  const JobId last = story.submit({.min = 1, .max = 1});
  CHECK(undrains_proposed(last) == 0);
  CHECK(core::explain(story.state(), last).summary ==
        "waits for nodes: it needs 1 slot, and those that are there have room for 0; with all that its pools may have "
        "there is room for 2");
}

TEST_CASE("a gang of one type of slot counts with the room and the nodes of one type only") {
  core::PoolSpec dear = gpu_pool(3);
  dear.name = "dear";
  dear.slot_type = "H100";
  dear.price_per_slot_hour = Money::micros(3'000'000);
  dear.worth_per_slot_hour = Money::micros(6'000'000);
  PoolStory story({gpu_pool(3), dear});
  story.node(4);  // of type cpu, like those of gpu
  story.submit({.min = 6, .max = 6});
  auto said = story.plan();
  REQUIRE(said.size() == 1);
  CHECK(
      said.front().starts_with("gpu-1: one more node for job-1, which needs 6 slots: present and coming nodes have "
                               "room for 4"));
  PoolStory large({gpu_pool(3), dear});
  large.node(4);
  large.submit({.min = 12, .max = 12});  // 10 of one type, 6 of the other
  CHECK(large.plan().empty());
}

TEST_CASE("workers that have to leave a drained node get one of a pool in time, once") {
  PoolStory story;
  story.node(2, "old");
  const JobId job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  story.learn(core::NodeDrainRequested{NodeId(1), Duration::seconds(600), "firmware"});
  const auto said = story.plan();
  REQUIRE(said.size() == 1);
  CHECK(said.front().starts_with("gpu-1: one more node for job-1, which needs 2 slots"));
  CHECK(story.plan().empty());
  const NodeId anew = story.joins(1);
  (void)story.plan();
  CHECK(story.worker(story.job(job).membership.workers.back()).node == anew);
}

TEST_CASE("a pool whose only node its operator has drained asks for another for the job that had to leave it") {
  PoolStory story({gpu_pool(1)});
  const JobId job = story.submit({.min = 2, .max = 2});
  REQUIRE(story.plan().size() == 1);
  const NodeId node = story.joins(1);
  story.settle(job);
  story.learn(core::NodeDrainRequested{node, Duration::seconds(60), "firmware"});
  (void)story.plan();
  story.pass(Duration::seconds(60));
  (void)story.plan();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(job).membership.workers)) story.exit(worker);
  (void)story.plan();
  story.pass(Duration::seconds(60));
  const auto released = story.plan();
  REQUIRE(released.size() == 1);
  CHECK_THAT(released.front(), Catch::StartsWith("gpu-1: given back"));
  story.learn(core::NodeLost{node, "its provider has ended it"});
  story.learn(core::PoolNodeDeleted{1});
  story.lists({});
  const auto asked = story.plan();
  REQUIRE(asked.size() == 1);
  CHECK_THAT(asked.front(), Catch::StartsWith("gpu-1: one more node for job-1"));
}

TEST_CASE("a node that holds workers is not emptied while one of its pool holds nothing") {
  PoolStory story({gpu_pool(2)});
  const std::vector<JobId> jobs = story.three_on_two_nodes();
  story.ends(jobs.back());
  story.pass(Duration::seconds(60));
  const auto said = story.plan();
  REQUIRE(said.size() == 1);
  CHECK(said.front().starts_with("gpu-2: given back"));
}

TEST_CASE("a pool that may have fewer nodes empties those that hold least, and none for one that is still to come") {
  PoolStory story({gpu_pool(3)});
  const JobId job = story.submit({.min = 2, .max = 2});
  REQUIRE(story.plan().size() == 1);
  story.joins(1);
  story.settle(job);
  const JobId other = story.submit({.min = 4, .max = 4});
  REQUIRE(story.plan().size() == 2);
  story.joins(2);
  story.learn(core::PoolsConfigured{1, {gpu_pool(2)}});
  CHECK(story.plan().empty());  // gpu-3 may never come
  story.learn(core::JobCancelRequested{other});
  (void)story.plan();
  story.joins(3);
  const auto said = story.plan();
  REQUIRE_FALSE(said.empty());
  CHECK(said.front() == "gpu-3: emptied: the pool has 3 nodes and may have 2");
  CHECK(story.asked(1).state == core::PoolNodeState::kJoined);
  CHECK(story.asked(2).state == core::PoolNodeState::kJoined);
  CHECK(story.job(job).state() == core::JobState::kRunning);
}

TEST_CASE("nodes of a pool that is no longer configured stay, and can be removed when they are lost") {
  PoolStory story;
  story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  const NodeId node = story.joins(1);
  story.settle(JobId(1));
  story.learn(core::PoolListFailed{"gpu", core::ProviderFault::kRefused, "the key has expired"});
  story.learn(core::PoolsConfigured{1, {}});
  CHECK_FALSE(story.state().pools.find("gpu")->list_fails_since);  // nothing lists them any more
  CHECK(story.plan().empty());
  CHECK(story.asked(1).state == core::PoolNodeState::kJoined);
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.learn(core::NodeRemoved{node});
  CHECK(story.state().pools.nodes.empty());
  CHECK(story.state().pools.pools.empty());
}

TEST_CASE("spot nodes stay within their share, and a job's price cap and slot types choose the pool") {
  core::PoolSpec spot = gpu_pool();
  spot.name = "spot";
  spot.spot = true;
  spot.price_per_slot_hour = Money::micros(300'000);
  PoolStory story({gpu_pool(), spot}, 0.5);
  story.submit({.min = 8, .max = 8});
  const auto said = story.plan();
  REQUIRE(said.size() == 4);
  const auto of_spot = std::count_if(said.begin(), said.end(), [](const auto& any) { return any.starts_with("spot"); });
  CHECK(of_spot == 2);  // the other two, which come with them, count

  PoolStory alone({spot}, 0.5);
  alone.submit({.min = 8, .max = 8});
  CHECK(alone.plan().empty());

  PoolStory capped;
  capped.submit({.min = 1, .max = 1, .price_cap = Money::micros(500'000)});
  CHECK(capped.plan().empty());
}

TEST_CASE("slots that are too dear for a job are no room for it: a pool makes a node that is within its price cap") {
  PoolStory story;
  story.node(4, "dear", {}, Money::micros(9'000'000));
  story.submit({.min = 2, .max = 2, .price_cap = Money::micros(2'000'000)});
  CHECK(story.plan().size() == 1);
}

}  // namespace tidepool::test
