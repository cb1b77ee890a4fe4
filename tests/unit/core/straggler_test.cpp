// What is done about a slow worker: watched, replaced, given up; and what its slowness goes with.
#include "core/decide/straggler_planner.hpp"
#include "core/explain/current_reason.hpp"
#include "core/explain/explain.hpp"
#include "core/facts/detector_of.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::Follows;
using core::JobState;

// The rules of what comes after a smaller share, or where none can be had.
constexpr core::EngineConfig kNoEasing{.rebalance_stragglers = false};

// A job of two workers that took `boot` to start.
JobId job_with_boot(Story& story, Duration boot) {
  const JobId job = story.submit({.min = 2, .max = 2});
  story.decide();
  story.pass(boot);
  story.settle(job);
  return job;
}

// The joining worker boots at once and takes its place; the leaving worker goes.
void take_over(Story& story, JobId job) {
  for (const WorkerId id : std::vector<WorkerId>(story.job(job).membership.workers)) {
    if (story.worker(id).phase == core::WorkerPhase::kStarting) story.ready(id);
  }
  story.decide();
  story.switched(job);
  for (const WorkerId id : std::vector<WorkerId>(story.job(job).membership.workers)) {
    if (story.worker(id).phase == core::WorkerPhase::kLeaving) story.exit(id, 0);
  }
  story.decide();
}

TEST_CASE("A slow worker is watched until waiting for it has cost as much as a replacement") {
  Story story(kNoEasing);
  story.node(4);
  const JobId job = job_with_boot(story, Duration::seconds(10));
  // One slot, ten seconds of boot, and for lack of a measured pause a second for each of two workers.
  CHECK(core::cost_of_replacing(story.job(job)) == Approx(12));
  // The other waits 70 ms in each of 150 steps: 10.5 slot-seconds.
  story.steps(job, 150, {50'000, 120'000});
  CHECK(names_of(story.decide()).empty());
  const auto& verdict = story.job(job).verdict.reason;
  CHECK(test::says<core::reason::StragglerWatched>(verdict));
  CHECK(test::number_in(verdict, "worker") == 2);
  CHECK(test::number_in(verdict, "cost_s") == Approx(12));
  CHECK(test::number_in(verdict, "waited_s") == Approx(10.5).margin(0.2));
  REQUIRE(story.count("worker.straggling") == 1);
  const auto& told = story.last("worker.straggling").data;
  CHECK(told["detector"] == "plain");
  CHECK(told["next_action"] == "replace");
  CHECK(told["action_cost_s"] == Approx(12));
  CHECK(told["follows"] == "worker");
  CHECK(told["node_peers"] == 1);
  // Since then the verdict stays, and its numbers are brought up to date.
  story.steps(job, 10, {50'000, 120'000});
  story.decide();
  CHECK(test::number_in(core::current_reason(story.state(), story.job(job)), "waited_s") == Approx(11.2).margin(0.2));
  story.steps(job, 15, {50'000, 120'000});
  CHECK(names_of(story.decide()) == "replace");
  CHECK(story.count("worker.straggling") == 1);
}

TEST_CASE("A wild step that names a worker counts no more than twice its usual time") {
  Story story(kNoEasing);
  story.node(4);
  const JobId job = job_with_boot(story, Duration::seconds(10));
  story.steps(job, 20);
  story.steps(job, 1, {50'000, 60'000'000});  // named by it
  REQUIRE(story.worker(WorkerId(2)).track.slow_steps == 1);
  CHECK(story.worker(WorkerId(2)).track.waited_s == Approx(0.05));
  story.steps(job, 1, {50'000, 1'050'000});  // a wait that was seen counts as it was
  CHECK(story.worker(WorkerId(2)).track.waited_s == Approx(1.05));
}

TEST_CASE("The account of a worker that is fast again is closed") {
  Story story(kNoEasing);
  story.node(4);
  const JobId job = job_with_boot(story, Duration::seconds(10));
  for (int episode = 0; episode < 4; ++episode) {
    story.steps(job, 60, {50'000, 120'000});
    CHECK(names_of(story.decide()).empty());
    story.steps(job, 10);
    CHECK(names_of(story.decide()).empty());
    CHECK(story.worker(WorkerId(2)).track.waited_s == 0);
  }
  CHECK(story.count("worker.straggling") == 4);
}

TEST_CASE("What a replacement and a shrink cost is what they have cost this job") {
  core::Job job;
  job.spec.gpus_per_worker = 2;
  job.membership.members = {WorkerId(1), WorkerId(2), WorkerId(3)};
  CHECK(core::cost_of_replacing(job) == Approx(2 * 3 * 1.0));  // nothing measured: a second of pause
  job.measurements.boot_cost = {1, 4'000};
  job.measurements.grow_cost = {2, 500};
  CHECK(core::cost_of_replacing(job) == Approx(2 * (4 + 3 * 0.5)));
  job.measurements.replace_cost = {1, 100};
  CHECK(core::cost_of_replacing(job) == Approx(2 * (4 + 3 * 0.1)));
  CHECK(core::cost_of_shrinking(job) == Approx(2 * 3 * 0.5 + 8.6));
  job.measurements.shrink_cost = {1, 50};
  CHECK(core::cost_of_shrinking(job) == Approx(2 * 3 * 0.05 + 8.6));
}

TEST_CASE("Slowness is followed from the worker to its node and from there to the data") {
  Story story(kNoEasing);
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  const std::vector<std::int64_t> slow = {50'000, 120'000};
  story.steps(job, 30, slow);
  REQUIRE(names_of(story.decide()) == "replace");  // w-3 on the same node: there is no other
  take_over(story, job);
  CHECK(story.worker(WorkerId(3)).replaced == WorkerId(2));
  story.pass(core::kReplacementWait);
  story.steps(job, 30, slow);
  CHECK(names_of(story.decide()).empty());
  const auto& why = story.job(job).verdict.reason;
  CHECK(test::says<core::reason::StragglerNoSpare>(why));
  CHECK(test::number_in(why, "follows") == static_cast<double>(Follows::kNode));
  CHECK(core::sentence(why).ends_with("; no slot is free on another node for a replacement"));  // three are on its own

  story.node(1);
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "replace");
  CHECK(std::get<core::ReplaceIntent>(decision.plan[0].intent).joining_worker.node == NodeId(2));
  take_over(story, job);
  story.pass(core::kReplacementWait * 4);
  story.steps(job, 100, slow);
  CHECK(names_of(story.decide()).empty());
  CHECK(test::says<core::reason::StragglerInData>(story.job(job).verdict.reason));
  CHECK(story.last("worker.straggling").data["follows"] == "data");
  CHECK(story.last("worker.straggling").data["next_action"].is_null());
}

TEST_CASE("A second replacement in a row follows the first only after a while") {
  Story story(kNoEasing);
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  story.steps(job, 30, {50'000, 120'000});
  REQUIRE(names_of(story.decide()) == "replace");
  take_over(story, job);
  story.steps(job, 150);  // 15 s: the joining worker is healthy, and then it is not
  story.steps(job, 30, {50'000, 120'000});
  CHECK(names_of(story.decide()).empty());
  CHECK(test::says<core::reason::StragglerWatched>(story.job(job).verdict.reason));
  CHECK_THAT(core::explain(story.state(), story.job(job)).evidence,
             Catch::VectorContains(
                 std::string("a slow worker was replaced or removed 18 s ago; the next one waits for 12 s more")));
  story.pass(core::kReplacementWait);
  CHECK(names_of(story.decide()) == "replace");
}

TEST_CASE("Without a free slot a slow worker is given up if the others are faster without it") {
  Story story(kNoEasing);
  story.node(3);
  const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}}, 3);
  story.steps(job, 100, {50'000, 70'000, 50'000});  // at 71 % it does more than nothing: 2 < 3 x 0.71
  CHECK(names_of(story.decide()).empty());
  CHECK(test::says<core::reason::StragglerNoSpare>(story.job(job).verdict.reason));
  CHECK(story.last("worker.straggling").data["next_action"].is_null());

  story.steps(job, 100, {50'000, 200'000, 50'000});
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  CHECK(test::says<core::reason::StragglerShrunk>(decision.plan[0].reason));
  CHECK(std::get<core::ShrinkIntent>(decision.plan[0].intent).leaving_workers == std::vector{WorkerId(2)});
  story.switched(job);
  story.exit(WorkerId(2), 0);
  // The policy wants three again, but the free slot is the slow worker's.
  story.steps(job, 5);
  CHECK(names_of(story.decide()).empty());
  CHECK(test::says<core::reason::Cooldown>(story.job(job).verdict.reason));
  story.pass(core::kReplacementWait);
  CHECK(names_of(story.decide()) == "grow");
}

TEST_CASE("A job that has to give up slots gives up its slow worker, and replaces none before") {
  Story story(kNoEasing);
  story.node(4);
  const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}}, 3);
  story.steps(job, 100, {50'000, 200'000, 50'000});
  story.learn(core::JobResizeRequested{job, 2});
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  CHECK_FALSE(test::says<core::reason::StragglerShrunk>(decision.plan[0].reason));
  CHECK(std::get<core::ShrinkIntent>(decision.plan[0].intent).leaving_workers == std::vector{WorkerId(2)});
}

TEST_CASE("Beside its slow worker a job gives up the one that is left alone on its node") {
  Story story(kNoEasing);
  for (int node = 0; node < 3; ++node) story.node(2);
  const JobId job = story.running({.min = 1, .max = 6, .cooldown = {}}, 6);
  const auto& members = story.job(job).membership.members;
  const WorkerId slow = members[2];
  const WorkerId beside = members[3];
  REQUIRE(story.worker(slow).node == story.worker(beside).node);
  story.steps(job, 100, {50'000, 50'000, 200'000, 50'000, 50'000, 50'000});
  story.learn(core::JobResizeRequested{job, 4});
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  CHECK(std::get<core::ShrinkIntent>(decision.plan[0].intent).leaving_workers == std::vector{slow, beside});
}

TEST_CASE("A slow worker with a smaller share is given up first, too") {
  Story story;
  story.node(3);
  const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}}, 3);
  const WorkerId slow = story.job(job).membership.members[1];
  for (int round = 0; round < 50 && story.job(job).shares.rebalanced.empty(); ++round) {
    story.steps(job, 20, {50'000, 200'000, 50'000});
    story.decide();
  }
  REQUIRE(story.job(job).shares.rebalanced.contains(slow));
  story.steps(job, 20);
  story.learn(core::JobResizeRequested{job, 2});
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  CHECK(std::get<core::ShrinkIntent>(decision.plan[0].intent).leaving_workers == std::vector{slow});
}

TEST_CASE("A job that asks not to be judged is not, and one that names a detector gets it") {
  class NameAll final : public core::StragglerDetector {
   public:
    [[nodiscard]] std::string_view name() const override { return "all"; }
    [[nodiscard]] std::vector<core::StragglerFinding> judge(const std::vector<std::int64_t>& compute_us,
                                                            const std::vector<std::int64_t>&,
                                                            const std::vector<std::vector<double>*>&) const override {
      return std::vector<core::StragglerFinding>(compute_us.size(),
                                                 {.score = 0.5, .bar = 0.9, .slow = true, .steps = 1});
    }
  };
  core::Engine::Parts parts;
  parts.stragglers.usual = std::make_shared<PlainDetector>();
  parts.stragglers.named["all"] = std::make_shared<NameAll>();
  core::JobSpec spec;
  CHECK(parts.stragglers.detector_for(spec, "")->name() == "plain");
  spec.straggler_detector = "all";
  CHECK(parts.stragglers.detector_for(spec, "")->name() == "all");
  spec.straggler_detector = "of another daemon";
  CHECK(parts.stragglers.detector_for(spec, "")->name() == "plain");
  spec.straggler_detector = core::kNoDetector;
  CHECK(parts.stragglers.detector_for(spec, "") == nullptr);
  CHECK(parts.stragglers.detector_for(spec, "all") == nullptr);
  spec.straggler_detector = "default";
  CHECK(parts.stragglers.detector_for(spec, "all")->name() == "all");
  CHECK(parts.stragglers.detector_for(spec, "plain")->name() == "plain");
}

// --- diagnosis ----------------------------------------------------------------------------------

struct Bench {
  core::ClusterState state;

  core::Worker& add(std::uint64_t worker, std::uint64_t node, std::int64_t slow_steps, std::int64_t steps = 200) {
    const WorkerId id(worker);
    const NodeId place(node);
    auto& at = state.nodes[place];
    at.id = place;
    at.owners.push_back(id);
    core::Worker& added = state.workers[id];
    added.id = id;
    added.node = place;
    added.track.steps = steps;
    added.track.slow_steps = slow_steps;
    return added;
  }
  Follows follows(std::uint64_t worker) const { return diagnose(state, *state.find_worker(WorkerId(worker))).follows; }
};

TEST_CASE("A worker that is slow beside fast neighbours is slow by itself") {
  Bench bench;
  bench.add(1, 1, 30);
  CHECK(bench.follows(1) == Follows::kUnknown);  // alone on its node
  bench.add(2, 2, 30);
  CHECK(bench.follows(1) == Follows::kUnknown);  // another node says nothing
  bench.add(3, 1, 0, 5);
  CHECK(bench.follows(1) == Follows::kUnknown);  // not known yet
  bench.add(4, 1, 0);
  CHECK(bench.follows(1) == Follows::kWorker);
  const auto found = diagnose(bench.state, *bench.state.find_worker(WorkerId(1)));
  CHECK(found.node_peers == 1);
  CHECK(found.node_slow == 0);
}

TEST_CASE("Where half of the others on the node are slow too it is the node") {
  Bench bench;
  bench.add(1, 1, 30);
  bench.add(2, 1, 40);
  bench.add(3, 1, 0);
  CHECK(bench.follows(1) == Follows::kNode);
  bench.add(4, 1, 0);
  CHECK(bench.follows(1) == Follows::kWorker);  // one of three
}

TEST_CASE("A worker of several slots is one neighbour") {
  Bench bench;
  bench.add(1, 1, 30);
  bench.add(2, 1, 0);
  bench.state.nodes[NodeId(1)].owners.push_back(WorkerId(2));
  CHECK(diagnose(bench.state, *bench.state.find_worker(WorkerId(1))).node_peers == 1);
}

TEST_CASE("A worker whose slots do not lie side by side is one neighbour, too") {
  Bench bench;
  bench.add(1, 1, 30);
  bench.add(2, 1, 40);
  bench.add(3, 1, 0);
  bench.state.nodes[NodeId(1)].owners.push_back(WorkerId(2));
  bench.add(4, 1, 0);
  const auto found = diagnose(bench.state, *bench.state.find_worker(WorkerId(1)));
  CHECK(found.node_peers == 3);
  CHECK(found.node_slow == 1);
  CHECK(found.follows == Follows::kWorker);
}

TEST_CASE("A joining worker that is slow from its beginning tells where the slowness lies") {
  Bench bench;
  bench.add(1, 1, 0);
  core::Worker& joining_worker = bench.add(2, 1, 60, 80);
  CHECK(bench.follows(2) == Follows::kWorker);
  joining_worker.replaced = WorkerId(9);
  joining_worker.replaced_on = NodeId(1);
  CHECK(bench.follows(2) == Follows::kNode);
  joining_worker.replaced_on = NodeId(2);
  CHECK(bench.follows(2) == Follows::kData);
  joining_worker.track.steps = 5'000;  // it was healthy for long
  CHECK(bench.follows(2) == Follows::kWorker);
}

}  // namespace
}  // namespace tidepool::test
