// A saved state that is brought to the node where its job starts: when it is, what the start waits for, and how it
// ends.
#include "core/state/state_move.hpp"

#include "core/codec/codec.hpp"
#include "core/facts/state_moves.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

// A job whose state of step 102 lies on the first of two nodes, which another job has filled since.
struct Kept {
  Story story;
  NodeId home, other;
  JobId job, rival;

  explicit Kept(bool home_moves = true, bool other_moves = true) {
    home = join("n1", home_moves);
    job = story.submit({.min = 1, .max = 1, .grace = Duration::seconds(5)});
    story.settle(job);
    story.steps(job, 100);
    story.park(job);
    rival = story.submit({.min = 1, .max = 1});
    story.settle(rival);
    other = join("n2", other_moves);
    story.learn(core::JobResumeRequested{job});
  }
  NodeId join(const std::string& name, bool moves, std::vector<WorkerId> running = {}) {
    const NodeId id = story.engine().node_id_for(name);
    story.learn(core::NodeJoined{.node = id,
                                 .name = name,
                                 .slots = 1,
                                 .slot_type = "cpu",
                                 .price_per_slot_hour = Money::micros(1'000'000),
                                 .running = std::move(running),
                                 .moves_states = moves});
    return id;
  }
  const core::Job& state() const { return story.job(job); }
  const std::optional<core::StateMove>& moving() const { return state().recovery.moving; }
  WorkerId worker() const { return state().membership.workers.front(); }
  std::vector<core::Event> bring() { return story.learn(core::StateBrought{job, other, 102, 1000, {}}); }
};

TEST_CASE("a job need not wait for the node of its state where agents bring it: it starts elsewhere with it") {
  Kept kept;
  const auto decision = kept.story.decide();
  REQUIRE(names_of(decision) == "start");
  CHECK(test::says<core::reason::ResumedByTransfer>(decision.plan[0].reason));
  CHECK(core::sentence(decision.plan[0].reason).find("is transferred from node-1 to node-2") != std::string::npos);
  REQUIRE(kept.moving());
  CHECK(kept.moving()->from == kept.home);
  CHECK(kept.moving()->to == kept.other);
  CHECK(kept.moving()->step == 102);
}

TEST_CASE("agents of before are not waited for: without one that hands over or fetches, all is as it was") {
  for (const auto& [home, other] : {std::pair(false, true), std::pair(true, false)}) {
    Kept kept(home, other);
    CHECK(names_of(kept.story.decide()).empty());
    CHECK(test::says<core::reason::WaitsForState>(kept.state().verdict.reason));
    kept.story.pass(Duration::seconds(11));
    kept.story.learn(core::ClockAdvanced{});
    const auto decision = kept.story.decide();
    REQUIRE(names_of(decision) == "start");
    CHECK(test::says<core::reason::ResumedElsewhere>(decision.plan[0].reason));
    CHECK_FALSE(kept.moving());
  }
}

TEST_CASE("a state that has come counts as lying there, and the worker's time to boot begins then") {
  Kept kept;
  Story& story = kept.story;
  story.decide();
  story.pass(Duration::seconds(50));
  const auto events = kept.bring();
  REQUIRE(events.size() == 1);
  CHECK(events[0].type == "job.state_brought");
  CHECK(events[0].data["from"] == "node-1");
  CHECK_FALSE(kept.moving());
  CHECK(kept.state().recovery.suspended->node == kept.other);
  CHECK(kept.state().recovery.suspended->origin == kept.home);
  CHECK(story.worker(kept.worker()).started_at == story.now());
  CHECK(kept.bring().empty());  // said again
  story.ready(kept.worker());
  CHECK(names_of(story.decide()) == "switch");
  // Of the two that have it, the one that is up.
  story.learn(core::NodeLost{kept.other, "gone"});
  CHECK(core::holder_of_state(story.state(), kept.state()) == kept.home);
}

TEST_CASE("no generation is committed while the state is on its way, and none of the wait counts as a late start") {
  Kept kept;
  Story& story = kept.story;
  story.decide();
  story.pass(core::longest_move(1000) - Duration::seconds(1));
  story.learn(core::ClockAdvanced{});
  CHECK(names_of(story.decide()).empty());
  CHECK(kept.moving());
}

TEST_CASE("a move that no agent reports on does not hold up its job for ever") {
  Kept kept;
  Story& story = kept.story;
  story.decide();
  const WorkerId first = kept.worker();
  core::Decision decision;
  for (int i = 0; i < 20 && names_of(decision).empty(); ++i) {
    REQUIRE(story.engine().next_due());
    story.pass(*story.engine().next_due() - story.now());
    story.learn(core::ClockAdvanced{});
    decision = story.decide();
  }
  REQUIRE(names_of(decision) == "stop_worker");
  story.exit(first, -1);
  CHECK(story.count("job.state_left") == 1);
  CHECK(names_of(story.decide()) == "start");
}

TEST_CASE("each move ends in one event, however its job leaves it") {
  const auto left = [](auto&& ends) {
    Kept kept;
    kept.story.decide();
    REQUIRE(kept.moving());
    ends(kept);
    CHECK_FALSE(kept.moving());
    CHECK(kept.story.count("job.state_left") == 1);
    return kept.story.last("job.state_left").data["why"].template get<std::string>();
  };
  CHECK(left([](Kept& kept) { kept.story.learn(core::StateLeft{kept.job, kept.other, 102, "cable"}); }) == "cable");
  CHECK(left([](Kept& kept) { kept.story.learn(core::NodeLost{kept.other, "silent"}); }).find("gone") !=
        std::string::npos);
  CHECK(left([](Kept& kept) { kept.story.exit(kept.worker(), 1); }).find("gone") != std::string::npos);
  CHECK(left([](Kept& kept) { kept.story.ready(kept.worker()); }).find("has not said") != std::string::npos);
  CHECK_FALSE(left([](Kept& kept) {
                kept.story.learn(core::JobSuspendRequested{kept.job});
                kept.story.decide();
              }).empty());
  CHECK_FALSE(left([](Kept& kept) {
                kept.story.learn(core::JobCancelRequested{kept.job});
                kept.story.decide();
              }).empty());
}

TEST_CASE("a boot whose beginning is not known is not measured, with and without a reader of the state") {
  for (const bool is_read : {false, true}) {
    INFO(is_read);
    Kept kept;
    kept.story.decide();
    REQUIRE(kept.moving());
    const std::int64_t measured = kept.state().measurements.boot_cost.count;
    const auto reader = is_read ? std::optional(kept.story.state()) : std::nullopt;
    kept.story.pass(Duration::seconds(10));
    kept.story.ready(kept.worker());
    CHECK_FALSE(kept.moving());
    CHECK(kept.state().measurements.boot_cost.count == measured);
  }
}

TEST_CASE("of workers that started without a word of their agent no boot is measured, nor is one late for it") {
  Story story;
  const auto join = [&](const std::string& name) {
    core::NodeJoined joined{story.engine().node_id_for(name), name, 2, "cpu", Money::micros(1'000'000), {}};
    joined.moves_states = true;
    story.learn(joined);
  };
  join("n1");
  const JobId job = story.submit({.min = 2, .max = 2, .preferred = 2, .grace = Duration::seconds(5)});
  story.settle(job);
  story.steps(job, 100);
  story.park(job);
  story.settle(story.submit({.min = 2, .max = 2, .preferred = 2}));
  join("n2");
  story.learn(core::JobResumeRequested{job});
  REQUIRE(names_of(story.decide()) == "start");
  REQUIRE(story.job(job).recovery.moving);
  const std::int64_t measured = story.job(job).measurements.boot_cost.count;
  const std::vector<WorkerId> workers = story.job(job).membership.workers;
  story.pass(Duration::seconds(20));
  story.ready(workers[0]);
  REQUIRE_FALSE(story.job(job).recovery.moving);
  CHECK(story.worker(workers[1]).started_at == story.now());
  const auto read = core::state_from_json(core::to_json(story.state()));
  REQUIRE(read.ok());
  CHECK(read->find_worker(workers[1])->boot_unseen);
  story.pass(Duration::seconds(1));
  story.ready(workers[1]);
  CHECK(story.job(job).measurements.boot_cost.count == measured);
}

TEST_CASE("words about another move, or one of before, change nothing") {
  Kept kept;
  kept.story.decide();
  CHECK(kept.story.learn(core::StateBrought{kept.job, kept.home, 102, 1, {}}).empty());
  CHECK(kept.story.learn(core::StateBrought{kept.job, kept.other, 101, 1, {}}).empty());
  CHECK(kept.story.learn(core::StateLeft{kept.job, kept.home, 102, "x"}).empty());
  CHECK(kept.moving());
}

TEST_CASE("an end that is known is not undone by the report of a start that began before it was") {
  Kept kept;
  Story& story = kept.story;
  story.decide();
  kept.bring();
  story.ready(kept.worker());
  story.decide();
  story.learn(core::TrainingFinished{kept.job, 200, 0.5});
  const GenerationNumber generation = kept.state().membership.generation;
  story.learn(core::StateRestored{kept.job, generation, 102, 1000, "/kept"});
  story.learn(core::GenerationSwitched{kept.job, generation, 1, 0, 0, 0, 0, 0});
  CHECK(kept.state().progress.step == 200);
}

TEST_CASE("states and facts of before know of no moves, and are read") {
  Kept kept;
  kept.story.decide();
  auto state = core::to_json(kept.story.state());
  const auto whole = core::state_from_json(state);
  REQUIRE(whole.ok());
  CHECK(whole->find_job(kept.job)->recovery.moving == kept.moving());
  for (auto& job : state["jobs"]) {
    job.erase("moving");
    if (!job["parked"].is_object()) continue;
    job["parked"].erase("bytes");
    job["parked"].erase("origin");
  }
  for (auto& node : state["nodes"]) node.erase("moves_states");
  const auto before = core::state_from_json(state);
  INFO((before.ok() ? "" : before.error().message));
  REQUIRE(before.ok());
  CHECK_FALSE(before->find_job(kept.job)->recovery.moving);
  CHECK(before->find_job(kept.job)->recovery.suspended->bytes == 0);
  CHECK_FALSE(before->find_node(kept.home)->moves_states);
  auto fact = core::to_json(core::Fact(core::NodeJoined{.node = NodeId(1), .name = "n", .slots = 1}));
  fact.erase("moves_states");
  CHECK(core::fact_from_json(fact).ok());
}

}  // namespace
}  // namespace tidepool::test
