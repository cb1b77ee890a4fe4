#include <algorithm>

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

// A job whose programs know nothing of generations: each change of membership ends them all and starts them anew.
namespace tidepool::test {
namespace {

using core::JobState;

struct Restarting : Story {
  JobId job_id;

  JobId submit_restarting(int min, int max, int preferred) {
    job_id = engine().next_job_id();
    JobSketch sketch;
    sketch.min = min;
    sketch.max = max;
    sketch.preferred = preferred;
    core::JobSpec spec = job_spec(sketch);
    spec.resize = core::ResizeMode::kRestart;
    spec.elastic.grace = Duration::seconds(10);
    spec.elastic.cooldown = Duration();
    wish(job_id, preferred);
    learn(core::JobSubmitted{job_id, spec});
    return job_id;
  }
  const core::Job& its() const { return job(job_id); }
  void waits(WorkerId worker) { learn(core::WorkerJoining{worker, its().membership.generation}); }
  void started(WorkerId worker) { learn(core::ProgramStarted{worker, its().membership.generation}); }
  void ended(WorkerId worker, int code, int signal = 0) {
    learn(core::ProgramEnded{worker, its().membership.generation, code, signal, "last words"});
  }
  std::vector<WorkerId> members() const { return its().membership.members; }
  // From a start order to programs that run.
  void launch() {
    for (const WorkerId worker : std::vector<WorkerId>(its().membership.workers)) {
      if (this->worker(worker).phase == core::WorkerPhase::kStarting) ready(worker);
    }
    decide();
    all_wait();
    pass(Duration::seconds(70));
    CHECK(names_of(decide()) == "launch");
    for (const WorkerId worker : members()) started(worker);
    decide();
  }
  void all_wait() {
    for (const WorkerId worker : members()) waits(worker);
  }
  void run_at(int size, int max = 4) {
    node(max);
    submit_restarting(1, max, size);
    CHECK(names_of(decide()) == "start");
    launch();
    REQUIRE(its().state() == JobState::kRunning);
    REQUIRE(its().size() == size);
  }
};

}  // namespace

TEST_CASE("a program that ends for another size has a notice, and the time that it is granted is no hung switch") {
  Restarting story;
  const core::Tenant demo{.name = "demo", .guarantee = 4, .notice_extension = Duration::seconds(600)};
  story.learn(core::TenantsConfigured{{.tenants = {demo}}});
  story.run_at(1);
  story.learn(core::JobResizeRequested{story.job_id, 2});
  CHECK(names_of(story.decide()) == "grow");
  CHECK_FALSE(story.worker(WorkerId(1)).notice);
  story.ready(WorkerId(2));
  CHECK(names_of(story.decide()) == "switch");
  const core::LeaveNotice notice = story.worker(WorkerId(1)).notice.value();
  CHECK(notice.by == story.now() + Duration::seconds(10));
  CHECK_FALSE(story.worker(WorkerId(2)).notice);  // its program has not run yet
  story.learn(
      core::NoticeAnswered{WorkerId(1), notice.decision, 1, core::NoticeAnswer::kUntil, Duration::seconds(500)});
  story.waits(WorkerId(2));
  story.pass(Duration::seconds(499));
  CHECK(names_of(story.decide()).empty());
  story.waits(WorkerId(1));
  CHECK_FALSE(story.worker(WorkerId(1)).notice);  // its program has ended
  CHECK(names_of(story.decide()) == "launch");
}

TEST_CASE("a program tells its length while it runs; that is no start of its worker, and the newest counts") {
  Restarting story;
  story.run_at(2);
  const std::int64_t boots = story.its().measurements.boot_cost.count;
  story.learn(core::WorkerReady{WorkerId(1), 20'000});
  CHECK(story.its().progress.length.steps == 20'000);
  story.learn(core::WorkerReady{WorkerId(2), std::nullopt, 640});
  CHECK(story.its().progress.length == core::ProgramLength{std::nullopt, 640});
  CHECK(core::samples_left(story.its()) == 640);
  CHECK(story.its().measurements.boot_cost.count == boots);
  CHECK(story.its().state() == JobState::kRunning);
  CHECK(story.worker(WorkerId(1)).phase == core::WorkerPhase::kMember);
  CHECK(story.refuses(core::WorkerReady{WorkerId(1), 0}).find("at least 1") != std::string::npos);
}

TEST_CASE("programs start together, once every worker waits for its generation") {
  Restarting story;
  story.node(2);
  story.submit_restarting(2, 2, 2);
  story.decide();
  story.ready(WorkerId(1));
  CHECK(names_of(story.decide()).empty());
  story.ready(WorkerId(2));
  CHECK(names_of(story.decide()) == "switch");
  story.waits(WorkerId(1));
  CHECK(names_of(story.decide()).empty());
  story.waits(WorkerId(2));
  CHECK(names_of(story.decide()) == "launch");
  story.started(WorkerId(1));
  CHECK(story.its().state() == JobState::kStarting);
  story.started(WorkerId(2));
  CHECK(story.its().state() == JobState::kRunning);
  CHECK(story.last("generation.switched").data.at("kind") == "start");
  CHECK(story.last("generation.switched").data.at("stall_ms") == 0);
  CHECK(story.count("job.started") == 1);
}

TEST_CASE("a larger size waits for the end of all old programs, and its cost is that of a restart") {
  Restarting story;
  story.run_at(2);
  story.learn(core::JobResizeRequested{story.job_id, 3});
  CHECK(names_of(story.decide()) == "grow");
  CHECK(story.its().membership.switched);
  story.ready(WorkerId(3));
  CHECK(names_of(story.decide()) == "switch");
  story.waits(WorkerId(1));
  story.waits(WorkerId(3));
  CHECK(names_of(story.decide()).empty());  // the program of w-2 still writes its checkpoint
  story.pass(Duration::seconds(4));
  story.waits(WorkerId(2));
  CHECK(names_of(story.decide()) == "launch");
  story.pass(Duration::seconds(1));
  for (const WorkerId worker : story.members()) story.started(worker);
  const auto& event = story.last("generation.switched").data;
  CHECK(event.at("kind") == "restart");
  CHECK(event.at("from_size") == 2);
  CHECK(event.at("to_size") == 3);
  CHECK(event.at("stall_ms") == 5000);
  CHECK(story.its().measurements.restart_cost.count == 1);
  CHECK(story.its().measurements.restart_cost.mean_stall_ms == 5000);
  CHECK(story.its().measurements.grow_cost.count == 0);
  CHECK(story.its().recovery.restarts == 0);
  CHECK(story.last("job.resized").data.at("to") == 3);
}

TEST_CASE("a smaller size waits for the leaving worker's end too") {
  Restarting story;
  story.run_at(3);
  story.learn(core::JobResizeRequested{story.job_id, 2});
  CHECK(names_of(story.decide()) == "shrink switch");
  story.all_wait();
  CHECK(names_of(story.decide()).empty());
  story.exit(WorkerId(3));
  CHECK(names_of(story.decide()) == "launch");
  CHECK(story.its().recovery.restarts == 0);
}

TEST_CASE("a failed program of a job of one worker is told of that one") {
  Restarting story;
  story.run_at(1);
  story.ended(WorkerId(1), -1, 9);
  CHECK(names_of(story.decide()) == "switch");
  CHECK(core::sentence(story.its().verdict.reason) ==
        "the program of w-1 failed; it starts again (1 of 3 restarts used)");
}

TEST_CASE("a failed program restarts all workers on their slots after a pause that grows") {
  Restarting story;
  story.run_at(2);
  story.ended(WorkerId(2), -1, 9);
  CHECK(story.its().recovery.restarts == 1);
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.its().membership.members == std::vector{WorkerId(1), WorkerId(2)});
  CHECK(test::says<core::reason::ProgramFailed>(story.its().verdict.reason));
  CHECK(core::sentence(story.its().verdict.reason) ==
        "the program of w-2 failed; all 2 workers start again (1 of 3 restarts used)");
  story.learn(core::ProgramEnded{WorkerId(1), story.its().membership.generation - 1, 1, 0, "its peer is gone"});
  CHECK(story.its().recovery.restarts == 1);  // what one failure takes along is not another
  story.all_wait();
  CHECK(names_of(story.decide()).empty());
  CHECK(story.engine().next_due() == story.now() + Duration::seconds(1));
  story.pass(Duration::seconds(1));
  CHECK(names_of(story.decide()) == "launch");
  for (const WorkerId worker : story.members()) story.started(worker);
  CHECK(story.last("generation.switched").data.at("kind") == "failure");
  story.ended(WorkerId(1), 1);
  story.decide();
  story.all_wait();
  story.pass(Duration::millis(1'999));
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::millis(1));
  CHECK(names_of(story.decide()) == "launch");
}

TEST_CASE("a program that fails too often, or says that its settings are wrong, ends the job") {
  Restarting story;
  story.run_at(2);
  SECTION("exit code 2") {
    story.ended(WorkerId(1), 2);
  }
  SECTION("more often than max_restarts") {
    for (int round = 0; round < 3; ++round) {
      story.ended(WorkerId(1), 1);
      story.launch();
    }
    CHECK(story.its().state() == JobState::kRunning);
    story.ended(WorkerId(1), 1);
  }
  CHECK(names_of(story.decide()) == "stop_worker stop_worker");
  story.exit(WorkerId(1));
  story.exit(WorkerId(2));
  CHECK(names_of(story.decide()) == "end_job");
  CHECK(story.its().state() == JobState::kFailed);
  CHECK(core::explain(story.state(), story.its()).summary.find("w-1 exited with code") != std::string::npos);
}

TEST_CASE("the job has succeeded when every program has ended with 0") {
  Restarting story;
  story.run_at(2);
  story.ended(WorkerId(2), 0);
  story.learn(core::JobResizeRequested{story.job_id, 3});
  CHECK(names_of(story.decide()).empty());  // it is about to finish
  CHECK(story.its().state() == JobState::kRunning);
  story.ended(WorkerId(1), 0);
  CHECK(names_of(story.decide()) == "stop_worker stop_worker");
  story.exit(WorkerId(1));
  story.exit(WorkerId(2));
  CHECK(names_of(story.decide()) == "end_job");
  CHECK(story.its().state() == JobState::kSucceeded);
  CHECK(story.its().recovery.restarts == 0);
  CHECK(core::explain(story.state(), story.its()).summary == "finished: its program exited with code 0");
}

TEST_CASE("programs whose workers leave a drained node together are started anew once") {
  Restarting story;
  story.node(2, "drained");
  story.submit_restarting(2, 2, 2);
  CHECK(names_of(story.decide()) == "start");
  story.launch();
  const NodeId free = story.node(2, "free");
  story.learn(core::NodeDrainRequested{NodeId(1), Duration::seconds(600), "firmware"});
  const core::Decision decision = story.decide();
  CHECK(names_of(decision) == "move");
  CHECK(story.its().phase.transition()->joining_workers.size() == 2);
  CHECK(story.worker(WorkerId(3)).node == free);
  CHECK(story.worker(WorkerId(4)).node == free);
  for (const WorkerId worker : {WorkerId(3), WorkerId(4)}) story.ready(worker);
  CHECK(names_of(story.decide()) == "switch");
  for (const WorkerId worker : {WorkerId(1), WorkerId(2)}) story.exit(worker);
  story.all_wait();
  CHECK(names_of(story.decide()) == "launch");
  for (const WorkerId worker : story.members()) story.started(worker);
  std::vector<nlohmann::json> told;
  for (const core::Event& event : story.events()) {
    if (event.type == "worker.replaced") told.push_back(event.data);
  }
  REQUIRE(told.size() == 2);
  CHECK(told[0] == nlohmann::json{{"worker", "w-1"}, {"by", "w-3"}, {"straggler", false}});
  CHECK(told[1] == nlohmann::json{{"worker", "w-2"}, {"by", "w-4"}, {"straggler", false}});
}

TEST_CASE("a suspended job's programs get their grace, and rank 0 comes back to its node") {
  Restarting story;
  story.node(1);
  story.node(1);
  story.submit_restarting(1, 2, 2);
  story.decide();
  story.launch();
  const NodeId home = story.worker(WorkerId(1)).node;
  CHECK(story.its().membership.restart_state.home == home);
  story.learn(core::JobSuspendRequested{story.job_id});
  CHECK(names_of(story.decide()) == "preempt");
  CHECK(story.its().membership.parking);
  CHECK(names_of(story.decide()).empty());
  story.exit(WorkerId(1));
  story.exit(WorkerId(2));
  CHECK(story.its().state() == JobState::kSuspended);
  CHECK(story.its().recovery.restarts == 0);
  const std::string own = "its program continues from its own newest checkpoint";
  const auto tells = [&](const core::Job& job, const std::string& line) {
    const auto lines = core::explain(story.state(), job).evidence;
    return std::count(lines.begin(), lines.end(), line) == 1;
  };
  CHECK(tells(story.its(), own + "; what is in TIDEPOOL_CHECKPOINT_DIR is on node " +
                               story.state().find_node(home)->name +
                               " only: so that it can start elsewhere, set a checkpoint.dir that all nodes see"));
  core::Job shares = story.its();
  shares.spec.checkpoint.dir = "/shared";
  CHECK(tells(shares, own));
  story.learn(core::JobResumeRequested{story.job_id});
  story.decide();
  story.launch();
  CHECK(story.worker(story.members().front()).node == home);
  CHECK(story.last("generation.switched").data.at("kind") == "resume");
}

TEST_CASE("a program that is killed after it was told to end is told of, for what it had not saved is lost") {
  Restarting story;
  story.run_at(2);
  story.learn(core::JobSuspendRequested{story.job_id});
  CHECK(names_of(story.decide()) == "preempt");
  story.learn(core::WorkerExited{.worker = WorkerId(1), .exit_code = 0});
  CHECK(story.count("worker.killed") == 0);
  story.learn(core::WorkerExited{.worker = WorkerId(2), .signal = 9, .detail = "not within the grace"});
  CHECK(story.count("worker.killed") == 1);
  CHECK(story.last("worker.killed").data == nlohmann::json{{"worker", "w-2"}, {"detail", "not within the grace"}});
  CHECK(story.last("worker.killed").node == NodeId(1));
  CHECK(story.count("worker.lost") == 0);
  CHECK(story.its().state() == JobState::kSuspended);
  CHECK(story.its().recovery.restarts == 0);
}

TEST_CASE("a program that is killed because it did not end for another size is told, once") {
  Restarting story;
  story.run_at(1);
  const GenerationNumber before = story.its().membership.generation;
  story.learn(core::JobResizeRequested{story.job_id, 2});
  CHECK(names_of(story.decide()) == "grow");
  story.ready(WorkerId(2));
  CHECK(names_of(story.decide()) == "switch");
  story.learn(core::ProgramEnded{WorkerId(1), before, -1, 9, "not within the grace"});
  REQUIRE(story.count("worker.killed") == 1);
  CHECK(story.last("worker.killed").data == nlohmann::json{{"worker", "w-1"}, {"detail", "not within the grace"}});
  story.all_wait();
  story.learn(core::ProgramEnded{WorkerId(1), before, -1, 9, "not within the grace"});
  CHECK(story.count("worker.killed") == 1);
  CHECK(story.count("worker.lost") == 0);
  CHECK(story.its().recovery.restarts == 0);
  CHECK(names_of(story.decide()) == "launch");
}

TEST_CASE("a program that has said that it is done has lost nothing when it is killed") {
  Restarting story;
  story.run_at(2);
  story.learn(core::JobSuspendRequested{story.job_id});
  CHECK(names_of(story.decide()) == "preempt");
  const DecisionId decision = story.worker(WorkerId(1)).notice.value().decision;
  story.learn(core::NoticeAnswered{WorkerId(1), decision, 1, core::NoticeAnswer::kDone, {}});
  story.learn(core::WorkerExited{.worker = WorkerId(1), .signal = 9, .detail = "as it was told to"});
  CHECK(story.count("worker.killed") == 0);
  story.learn(core::WorkerExited{.worker = WorkerId(2), .signal = 9, .detail = "not within the grace"});
  REQUIRE(story.count("worker.killed") == 1);
  CHECK(story.last("worker.killed").data.at("worker") == "w-2");
  CHECK(story.its().state() == JobState::kSuspended);
}

TEST_CASE("a lost node's workers are left out, and the programs of the others start anew") {
  Restarting story;
  story.node(1);
  const NodeId second = story.node(1);
  story.submit_restarting(1, 2, 2);
  story.decide();
  story.launch();
  story.learn(core::NodeLost{second, "silent"});
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.its().size() == 1);
  CHECK(story.its().recovery.restarts == 1);
  story.all_wait();
  story.pass(Duration::seconds(1));
  CHECK(names_of(story.decide()) == "launch");
}

TEST_CASE("a node whose agent can start no program is at fault and is left, and no restart of the job is used up") {
  Restarting story;
  story.learn(core::NodeDampingConfigured{core::kUsualDamping});
  story.run_at(2);
  const NodeId node = story.worker(WorkerId(1)).node;
  const auto starts_nothing = [&](WorkerId worker) {
    story.learn(core::WorkerExited{.worker = worker, .detail = "No space left on device", .nothing_started = true});
  };
  starts_nothing(WorkerId(2));
  REQUIRE(story.state().find_node(node)->faults);
  CHECK(story.state().find_node(node)->faults->failed_starts == 1);
  CHECK(story.state().find_node(node)->takes_workers());
  starts_nothing(WorkerId(1));
  CHECK_FALSE(story.state().find_node(node)->takes_workers());
  CHECK(story.its().state() == JobState::kPending);
  CHECK(story.its().recovery.restarts == 0);
  CHECK(story.its().recovery.last_error == "w-1 is gone: No space left on device");
}

TEST_CASE("a program that has ended unseen is a loss of its job, and no fault of its node") {
  Restarting story;
  story.learn(core::NodeDampingConfigured{core::kUsualDamping});
  story.run_at(2);
  const NodeId node = story.worker(WorkerId(1)).node;
  story.learn(core::WorkerExited{.worker = WorkerId(2), .detail = "exited while adopted; exit code unknown"});
  CHECK_FALSE(story.state().find_node(node)->faults);
  CHECK(story.its().recovery.restarts == 1);
}

TEST_CASE("a generation whose programs do not end or start in time loses the workers that hold it up") {
  Restarting story;
  story.run_at(3);
  story.learn(core::JobResizeRequested{story.job_id, 2});
  story.decide();
  story.all_wait();
  story.pass(Duration::seconds(129));
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::seconds(1));
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "stop_worker");
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).worker == WorkerId(3));
}

TEST_CASE("nothing is launched while an older program may run, whatever plans it") {
  Restarting story;
  story.run_at(2);
  const auto refused = [&](GenerationNumber number) {
    core::Decision decision;
    decision.id = DecisionId(story.state().next_decision);
    decision.at = story.now();
    decision.plan.push_back({core::LaunchIntent{story.job_id, number}, {}});
    const Status status = story.engine().validate(decision);
    return status.ok() ? std::string() : status.error().message;
  };
  CHECK(refused(story.its().membership.generation).find("LaunchedOnce") == 0);
  CHECK(refused(story.its().membership.generation + 1).find("LaunchIsOfTheNewest") == 0);
  story.ended(WorkerId(1), 1);
  story.decide();
  story.waits(WorkerId(1));
  CHECK(refused(story.its().membership.generation).find("AllHaveStopped: w-2") == 0);
  story.waits(WorkerId(2));
  CHECK(refused(story.its().membership.generation).empty());
}

TEST_CASE("late words of a restarted program change nothing") {
  Restarting story;
  story.run_at(2);
  const auto before = core::digest_of(story.state());
  story.started(WorkerId(1));
  story.learn(core::ProgramEnded{WorkerId(1), 0, 1, 0, ""});
  CHECK(core::digest_of(story.state()) == before);
  CHECK(story.refuses(core::ProgramEnded{WorkerId(77), 1, 1, 0, ""}).find("never been") != std::string::npos);
  CHECK(story.refuses(core::JobCheckpointRequested{story.job_id}).find("run.resize") != std::string::npos);
}

}  // namespace tidepool::test
