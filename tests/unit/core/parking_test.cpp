// How jobs give up their slots and take them again, and what becomes of workers that give no sign of life.
#include <algorithm>

#include "core/explain/explain.hpp"
#include "core/words/sentence.hpp"
#include "core/words/wording.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

core::StateParked parked(const Story& story, JobId job, WorkerId worker, std::int64_t step) {
  return {job, worker, story.job(job).membership.generation, step, 4096, 2.5};
}

// A job at `size` that has done some steps and has been told to park by its user.
JobId parking(Story& story, JobSketch sketch, int size) {
  const JobId job = story.running(std::move(sketch), size);
  story.steps(job, 10);
  story.learn(core::JobSuspendRequested{job});
  REQUIRE(names_of(story.decide()) == "preempt");
  REQUIRE(story.job(job).state() == JobState::kSuspending);
  return job;
}

struct Resumed {
  JobId job;
  std::int64_t step = 0;  // of its saved state
};

// A job of one worker on one slot that was parked and whose next worker, w-2, is ready to start.
Resumed resumed(Story& story) {
  const JobId job = parking(story, {.min = 1, .max = 1}, 1);
  const std::int64_t step = story.job(job).progress.step;
  story.learn(parked(story, job, WorkerId(1), step));
  story.exit(WorkerId(1));
  story.learn(core::JobResumeRequested{job});
  story.decide();
  story.ready(WorkerId(2));
  story.decide();
  return {job, step};
}

TEST_CASE("A suspension commits a generation without members, and the last steps before it count") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2}, 2);
  story.steps(job, 10);
  const auto stepping = story.job(job).membership.generation;
  const auto step = story.job(job).progress.step;
  const auto samples = story.job(job).progress.samples;
  story.learn(core::JobSuspendRequested{job});
  const auto decision = story.decide();
  const auto& preempt = std::get<core::PreemptIntent>(decision.plan.at(0).intent);
  CHECK(preempt.number == stepping + 1);
  CHECK_FALSE(preempt.after_failure);
  CHECK(story.job(job).membership.parking);
  CHECK(story.job(job).membership.members.empty());
  // The members go on to the step that they leave at.
  story.learn(core::StepsMeasured{job, stepping, step + 3, 3, Duration::millis(30), 192, 2.0, 1, {}});
  CHECK(story.job(job).progress.step == step + 3);
  CHECK(story.job(job).progress.samples == samples + 192);
  story.learn(parked(story, job, WorkerId(1), step + 3));
  CHECK(story.last("job.parked").data["node"] == "node-1");
  CHECK(story.last("job.parked").node == NodeId(1));
  story.exit(WorkerId(1));
  story.exit(WorkerId(2));
  CHECK(story.job(job).state() == JobState::kSuspended);
  CHECK(story.job(job).recovery.restarts == 0);
  CHECK(story.last("job.suspended").data["kept_step"] == step + 3);
}

TEST_CASE("A start goes on from the parked state, on the node that holds it") {
  Story story;
  story.node(1, "small");
  story.node(2, "large");
  const JobId job = parking(story, {.min = 1, .max = 1}, 1);
  const NodeId home = story.worker(WorkerId(1)).node;
  const auto step = story.job(job).progress.step;
  const auto samples = story.job(job).progress.samples;
  story.learn(parked(story, job, WorkerId(1), step));
  story.exit(WorkerId(1));
  story.decide();
  // Another hole would fit tighter now.
  story.learn(core::NodeCordonChanged{home, true});
  story.node(1, "tiny");
  story.learn(core::NodeCordonChanged{home, false});
  story.learn(core::JobResumeRequested{job});
  const auto start = story.decide();
  REQUIRE(names_of(start) == "start");
  CHECK(std::get<core::StartIntent>(start.plan[0].intent).joining_workers.at(0).node == home);
  story.ready(WorkerId(2));
  story.decide();
  story.learn(core::StateRestored{job, story.job(job).membership.generation, step, 4096, "/dev/shm/job-1"});
  CHECK(story.last("job.restored").data["steps_lost"] == 0);
  story.switched(job);
  CHECK(story.last("generation.switched").data["kind"] == "resume");
  CHECK(story.count("job.restored") == 1);
  CHECK(story.job(job).progress.step == step);
  CHECK(story.job(job).progress.samples == samples);
}

TEST_CASE("What a start does not find again is told as lost, and the books go back to it") {
  Story story;
  story.node(1);
  const JobId job = parking(story, {.min = 1, .max = 1}, 1);
  const auto step = story.job(job).progress.step;
  story.exit(WorkerId(1));  // without a word of what it has kept
  CHECK(story.last("job.suspended").data["kept_step"].is_null());
  story.learn(core::JobResumeRequested{job});
  story.decide();
  story.ready(WorkerId(2));
  story.decide();
  story.learn(core::GenerationSwitched{job, story.job(job).membership.generation, 1});
  CHECK(story.last("job.restored").data["step"] == 0);
  CHECK(story.last("job.restored").data["steps_lost"] == step);
  CHECK(story.job(job).progress.step == 0);
  CHECK(story.job(job).progress.samples == 0);
}

TEST_CASE("A job that starts from step 0 beside a saved state is explained so, and one that goes on from it is not") {
  for (const bool fits : {false, true}) {
    Story story;
    story.node(1);
    const auto [job, step] = resumed(story);
    story.learn(core::GenerationSwitched{job, story.job(job).membership.generation, fits ? step + 1 : 1});
    const auto evidence = core::explain(story.state(), job).evidence;
    const std::string told =
        "it started from step 0: its workers did not find or could not use its saved state of step " +
        core::grouped(static_cast<double>(step)) + ". ";
    CHECK(std::ranges::any_of(evidence, [&](const auto& line) { return line.starts_with(told); }) == !fits);
  }
}

TEST_CASE("Why a start did not use a saved state is told by the event and by the explanation, until a newer is saved") {
  const std::pair<UnusedWhy, std::string> cases[] = {
      {UnusedWhy::kDamaged, "its file is damaged (length, format or checksum are wrong); check the disk that it is on"},
      {UnusedWhy::kOtherLayout,
       "it is of another program, of another version of it or of other data; if these have changed, restore the "
       "program and data that saved it, then suspend and resume the job to continue from it"},
      {UnusedWhy::kUnreadable,
       "it could not be read or loaded, the worker's log says why; once it can be, suspend and resume the job to "
       "continue "
       "from it"}};
  for (const auto& [why, words] : cases) {
    Story story;
    story.node(1);
    const auto [job, step] = resumed(story);
    const GenerationNumber number = story.job(job).membership.generation;
    story.learn(core::GenerationSwitched{
        .job = job, .generation = number, .switch_step = 1, .unused = core::UnusedState{step, why}});
    const std::string told =
        "the state of step " + core::grouped(static_cast<double>(step)) + " was not used: " + words;
    const auto& unused = story.last("generation.switched").data["unused"];
    CHECK(unused["step"] == step);
    CHECK(unused["why"] == to_text(why));
    CHECK(unused["text"] == told);
    const auto explained = [&] {
      const auto evidence = core::explain(story.state(), job).evidence;
      return std::ranges::count(evidence, "it started from step 0: " + told);
    };
    CHECK(explained() == 1);
    story.pass(Duration::seconds(1));
    story.steps(job, 1);
    story.learn(core::CheckpointTaken{job, WorkerId(2), number, step + 1, 4096, 2, "/ckpt"});
    CHECK(explained() == 0);
  }
}

TEST_CASE("A worker that does not park within its grace is killed, and the reason says what is not kept") {
  Story story;
  story.node(2);
  const JobId job = parking(story, {.max = 2, .grace = Duration::seconds(7)}, 2);
  CHECK(names_of(story.decide()).empty());
  CHECK(story.engine().next_due() == story.now() + Duration::seconds(7));
  story.pass(Duration::seconds(7));
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "stop_worker stop_worker");
  CHECK(test::says<core::reason::ParkTimeout>(decision.plan[0].reason));
  CHECK(core::sentence(decision.plan[0].reason) ==
        "w-1 did not save its state within 7 s and is ended; 12 steps since "
        "the last saved state are lost");
  CHECK(test::number_in(decision.plan[0].reason, "steps") == static_cast<double>(story.job(job).progress.step));
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).grace == Duration());
  story.exit(WorkerId(1), -1);
  story.exit(WorkerId(2), -1);
  CHECK(story.job(job).recovery.restarts == 0);
}

TEST_CASE("After a failure every survivor keeps the state, and the one with the most steps counts") {
  Story story;
  story.node(3);
  const JobId job = story.running({.min = 3, .max = 3}, 3);
  story.steps(job, 10);
  story.exit(WorkerId(1), -1);
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "preempt");
  CHECK(std::get<core::PreemptIntent>(decision.plan[0].intent).after_failure);
  const auto step = story.job(job).progress.step;
  story.learn(parked(story, job, WorkerId(2), step));
  story.learn(parked(story, job, WorkerId(3), step + 1));
  story.learn(parked(story, job, WorkerId(2), step));
  CHECK(story.job(job).recovery.suspended->step == step + 1);
  CHECK(story.count("job.parked") == 2);
}

TEST_CASE("a job without any grace is told to leave in one decision, and its workers are stopped in the next") {
  Story story;
  story.node(1);
  core::JobSpec spec = job_spec({.min = 1, .max = 1});
  spec.elastic.grace = Duration();
  const JobId job = story.engine().next_job_id();
  story.learn(core::JobSubmitted{job, spec});
  story.settle(job);
  story.learn(core::JobSuspendRequested{job});
  CHECK(names_of(story.decide()) == "preempt");
  story.pass(story.engine().next_due().value() - story.now());
  CHECK(names_of(story.decide()) == "stop_worker");
}

TEST_CASE("A policy preempts with notice, but no job within its minimum run time and none that is not preemptible") {
  struct Nothing final : core::Policy, core::JobRule {
    [[nodiscard]] std::string_view name() const override { return "nothing"; }
    [[nodiscard]] const core::JobRule* rule() const override { return this; }
    [[nodiscard]] core::LineRule line_rule() const override { return core::LineRule::kPassed; }
    [[nodiscard]] core::Target target(const core::ClusterView&, const core::Job& job,
                                      core::StepBudget&) const override {
      const int wish = job.progress.step < 5 ? 1 : 0;
      return {.size = wish, .reason = core::reason::Measuring{.steps = 1, .of = 2}, .lost = {}, .mark = {}};
    }
  };
  core::Engine engine({{{"default", std::make_shared<Nothing>()}}, {std::make_shared<PlainDetector>()}, {}});
  const Instant zero = Instant::from_micros(1);
  const auto learn = [&](Instant at, core::Fact fact) { REQUIRE(engine.step({at, std::move(fact)}).ok()); };
  const auto decide = [&](Instant at) {
    const auto decision = engine.decide(at);
    REQUIRE(engine.validate(decision).ok());
    (void)engine.accept(decision);
    return decision;
  };
  learn(zero, core::NodeJoined{NodeId(1), "n", 2, "cpu", {}, {}});
  for (const bool preemptible : {true, false}) {
    auto spec = job_spec({.min_runtime = Duration::seconds(60)});
    spec.preemptible = preemptible;
    learn(zero, core::JobSubmitted{engine.next_job_id(), spec});
  }
  CHECK(names_of(decide(zero)) == "start start");
  for (const WorkerId id : {WorkerId(1), WorkerId(2)}) learn(zero, core::WorkerReady{id});
  CHECK(names_of(decide(zero)) == "switch switch");
  for (const JobId id : {JobId(1), JobId(2)}) {
    learn(zero, core::StepsMeasured{id, 1, 10, 10, Duration::seconds(1), 640, 2, 1, {}});
  }
  const auto held = decide(zero);
  CHECK(names_of(held).empty());
  CHECK(test::says<core::reason::MinRuntime>(engine.view().find_job(JobId(1))->verdict.reason));
  const Instant later = zero + Duration::seconds(60);
  learn(later, core::ClockAdvanced{});
  const auto decision = decide(later);
  REQUIRE(names_of(decision) == "preempt");
  CHECK(std::get<core::PreemptIntent>(decision.plan[0].intent).job == JobId(1));
  CHECK(test::says<core::reason::Preempted>(decision.plan[0].reason));
  CHECK(test::says<core::reason::AtMin>(engine.view().find_job(JobId(2))->verdict.reason));
  learn(later, core::WorkerExited{WorkerId(1), 0, 0, ""});
  CHECK(engine.view().find_job(JobId(1))->state() == JobState::kPending);
  // It is held back as long as its policy wishes nothing for it.
  CHECK(names_of(decide(later)).empty());
}

TEST_CASE("A stuck worker is killed at once and alone, and counts as lost") {
  Story story;
  story.node(3);
  const JobId job = story.running({.max = 3}, 3);
  story.learn(core::WorkerStuck{WorkerId(2), 31, "computing", Duration::seconds(70)});
  CHECK(story.last("worker.stuck").data["seconds"] == 70);
  CHECK(story.last("worker.stuck").node == NodeId(1));
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "stop_worker");
  CHECK(test::says<core::reason::WorkerStuck>(decision.plan[0].reason));
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).worker == WorkerId(2));
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).grace == Duration());
  story.learn(core::WorkerExited{WorkerId(2), -1, 9, ""});
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(story.job(job).recovery.last_error == "w-2 has made no progress at step 31 for 70 s and is ended");
  CHECK(names_of(story.decide()) == "switch");
}

TEST_CASE("A switch that never comes ends the workers that never answered; those that answered stay") {
  Story story({.switch_timeout = Duration::seconds(10)});
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 2);
  story.exit(WorkerId(2), -1);
  story.decide();
  story.switched(job);
  story.wish(job, 3);
  story.settle(job);
  REQUIRE(story.job(job).size() == 3);
  story.exit(story.job(job).membership.members.back(), -1);
  REQUIRE(names_of(story.decide()) == "switch");
  const auto members = story.job(job).membership.members;
  story.learn(core::WorkerJoining{members[0], story.job(job).membership.generation});
  story.pass(Duration::seconds(9));
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::seconds(1));
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "stop_worker");
  CHECK(test::says<core::reason::SwitchTimeout>(decision.plan[0].reason));
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).worker == members[1]);
}

TEST_CASE("Steps of the old generation put off the deadline of a switch that is prepared beside them") {
  Story story({.switch_timeout = Duration::seconds(10)});
  story.node(2);
  const JobId job = story.running({.max = 2, .cooldown = {}}, 1);
  story.wish(job, 2);
  story.steps(job, 1);
  story.decide();
  story.ready(WorkerId(2));
  REQUIRE(names_of(story.decide()) == "switch");
  const auto committed = story.now();
  for (int i = 0; i < 5; ++i) {
    story.pass(Duration::seconds(9));
    story.learn(core::StepsMeasured{job, 1, story.job(job).progress.step + 1, 1, Duration::millis(5), 64, 2, 1, {}});
    CHECK(names_of(story.decide()).empty());
  }
  CHECK(story.engine().next_due() == committed + Duration::seconds(50));
}

TEST_CASE("A member that exits well just before the end is reported is not a loss") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2}, 2);
  story.exit(WorkerId(2), 0);
  CHECK(names_of(story.decide()).empty());
  CHECK(story.job(job).recovery.restarts == 0);
  story.learn(core::TrainingFinished{job, 40, 1.0});
  story.exit(WorkerId(1), 0);
  story.decide();
  CHECK(story.job(job).state() == JobState::kSucceeded);
  CHECK(story.count("worker.lost") == 0);
}

TEST_CASE("A member that exits well and no end is reported was lost after all") {
  Story story({.finish_patience = Duration::seconds(3)});
  story.node(2);
  const JobId job = story.running({.max = 2}, 2);
  story.exit(WorkerId(2), 0);
  CHECK(story.engine().next_due() == story.now() + Duration::seconds(3));
  story.pass(Duration::seconds(3));
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(story.last("worker.lost").data["worker"] == "w-2");
}

TEST_CASE("A job that may have finished is not suspended before that is known") {
  Story story({.finish_patience = Duration::seconds(3)});
  story.node(2);
  core::JobSpec spec = job_spec({.min = 2, .max = 2});
  spec.max_restarts = 0;
  const JobId job = story.engine().next_job_id();
  story.learn(core::JobSubmitted{job, spec});
  story.settle(job);
  story.exit(WorkerId(2), 0);
  story.learn(core::JobSuspendRequested{job});
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::seconds(3));
  CHECK(names_of(story.decide()) == "stop_worker");  // it was lost, and the job has no restart left
  story.exit(WorkerId(1), -1);
  story.decide();
  CHECK(story.job(job).state() == JobState::kFailed);
}

TEST_CASE("A report tells the samples of all steps, so that lost reports do not count") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1}, 1);
  const auto step = story.job(job).progress.step + 50;
  story.learn(core::StepsMeasured{job, 1, step, 2, Duration::millis(30), 128, 2.0, 1, {}, 64 * step});
  CHECK(story.job(job).progress.samples == 64 * step);
  // Told twice, counted once.
  story.learn(core::StepsMeasured{job, 1, step, 2, Duration::millis(30), 128, 2.0, 1, {}, 64 * step});
  CHECK(story.job(job).progress.samples == 64 * step);
  story.learn(core::TrainingFinished{job, step + 1, 1.0, 64 * step + 17});
  CHECK(story.job(job).progress.samples == 64 * step + 17);
}

TEST_CASE("A checkpoint is wanted until it is told, and is what a later start falls back on") {
  Story story;
  story.node(1);
  const JobId job = story.submit({.max = 1});
  CHECK(story.refuses(core::JobCheckpointRequested{job}).find("does not step") != std::string::npos);
  story.settle(job);
  story.learn(core::JobCheckpointRequested{job});
  CHECK(story.job(job).requests.checkpoint);
  const auto step = story.job(job).progress.step;
  for (int i = 0; i < 3; ++i) story.learn(core::CheckpointFailed{job, WorkerId(1), 1, step, "/ckpt: disk full"});
  CHECK_FALSE(story.job(job).requests.checkpoint);
  CHECK(story.count("job.checkpoint_failed") == 2);
  CHECK(story.last("job.checkpoint_failed").data["times"] == 2);
  CHECK(story.last("job.checkpoint_failed").node == NodeId(1));
  CHECK(story.job(job).recovery.checkpoint_failure->times == 3);
  const auto told = core::explain(story.state(), job).evidence;
  CHECK(std::find(told.begin(), told.end(),
                  "its newest 3 checkpoints could not be taken (/ckpt: disk full); none is on disk") != told.end());
  story.learn(core::CheckpointTaken{job, WorkerId(1), 1, step, 4096, 3, "/ckpt"});
  CHECK_FALSE(story.job(job).requests.checkpoint);
  CHECK(story.last("job.checkpointed").data["path"] == "/ckpt");
  CHECK_FALSE(story.job(job).recovery.checkpoint_failure);
  story.steps(job, 20);
  story.exit(WorkerId(1), -1);
  const auto why = core::to_json(story.decide().plan.at(0).reason);
  story.ready(WorkerId(2));
  story.decide();
  story.learn(core::StateRestored{job, story.job(job).membership.generation, step, 4096, "/ckpt"});
  CHECK(story.last("job.restored").data["steps_lost"] == 20);
  CHECK(story.job(job).progress.step == step);
}

TEST_CASE("A job is changed within what its workers were started with") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 2, .cooldown = {}}, 2);
  core::JobSpec spec = story.job(job).spec;
  spec.elastic.max = 4;
  spec.elastic.sizes = {1, 2, 3, 4};
  spec.priority = 5;
  story.learn(core::JobChanged{job, spec});
  CHECK(story.last("job.changed").data["max"] == 4);
  story.wish(job, 4);
  story.settle(job);
  CHECK(story.job(job).size() == 4);
  spec.elastic.max = 3;
  spec.elastic.sizes = {1, 2, 3};
  CHECK(story.refuses(core::JobChanged{job, spec}).find("resize it first") != std::string::npos);
  spec = story.job(job).spec;
  spec.batch.global = 7;
  CHECK(story.refuses(core::JobChanged{job, spec}).find("batch") != std::string::npos);
}

}  // namespace
}  // namespace tidepool::test
