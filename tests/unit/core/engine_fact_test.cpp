// What facts teach, which are refused, and what late or repeated ones do.
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::JobState;

TEST_CASE("Facts that contradict the state are refused and change nothing") {
  Story story;
  const NodeId node = story.node(2, "local");
  const JobId job = story.running({.max = 2}, 1);
  CHECK(story.refuses(core::JobCancelRequested{JobId(9)}).find("no job-9") != std::string::npos);
  CHECK(story.refuses(core::JobSubmitted{JobId(9), job_spec({})}).find("next job is job-2") != std::string::npos);
  CHECK(story.refuses(core::JobResizeRequested{job, 7}).find("sizes are 1, 2") != std::string::npos);
  CHECK(story.refuses(core::JobResumeRequested{job}).find("running") != std::string::npos);
  CHECK(story.refuses(core::NodeLost{NodeId(7), ""}).find("no node-7") != std::string::npos);
  CHECK(story.refuses(core::NodeJoined{NodeId(7), "other", 1, "cpu", {}, {}}).find("node-2") != std::string::npos);
  CHECK(story.refuses(core::NodeJoined{NodeId(2), "local", 1, "cpu", {}, {}}).find("belongs to") != std::string::npos);
  CHECK(story.refuses(core::NodeJoined{node, "else", 1, "cpu", {}, {}}).find("is called") != std::string::npos);
  CHECK(story.refuses(core::WorkerReady{WorkerId(77)}).find("never been") != std::string::npos);
  CHECK(story.refuses(core::GenerationSwitched{job, 5}).find("future") != std::string::npos);
  CHECK(story.refuses(core::StepsMeasured{job, 5, 1, 1, Duration::millis(1)}).find("future") != std::string::npos);
  CHECK(story.refuses(core::StepsMeasured{job, 1, 3, 0, Duration::millis(1)}).find("steps >= 1") != std::string::npos);
  core::StepsMeasured odd{job, 1, 3, 1, Duration::millis(1), 64};
  odd.compute_us = {1, 2, 3};
  CHECK(story.refuses(odd).find("of 1 steps and 1 ranks there is one each") != std::string::npos);
  odd.steps = odd.last_step = (std::int64_t{1} << 62) + 1;
  CHECK(story.refuses(odd).find("compute times") != std::string::npos);
  auto broken = job_spec({});
  broken.elastic.sizes = {2, 1};
  CHECK(story.refuses(core::JobSubmitted{JobId(2), broken}).find("ascending") != std::string::npos);
  auto split = job_spec({.min = 2, .max = 4});
  split.elastic.group = 2;  // of which 3 workers are one and a half
  CHECK(story.refuses(core::JobSubmitted{JobId(2), split}).find("whole groups") != std::string::npos);
}

TEST_CASE("The workers of a group are what a job was submitted with") {
  Story story;
  const JobId job = story.submit({.min = 2, .max = 4, .sizes = {2, 4}});
  auto spec = story.job(job).spec;
  spec.elastic.group = 2;
  CHECK(story.refuses(core::JobChanged{job, spec}).find("elastic.group") != std::string::npos);
}

TEST_CASE("Time does not go back") {
  Story story;
  story.node(1);
  const auto answer = story.engine().step({story.now() - Duration::micros(1), core::ClockAdvanced{}});
  REQUIRE_FALSE(answer.ok());
}

TEST_CASE("A program that ends without a word to its agent is told what its job needs") {
  Story story;
  story.node(1);
  const JobId job = story.submit({.max = 1});
  story.decide();
  story.exit(WorkerId(1), 0);
  CHECK(story.job(job).recovery.last_error ==
        "w-1 exited with code 0 before it joined its job; a program that does not use the tidepool package needs "
        "run.resize: restart");
  story.decide();
  story.ready(WorkerId(2));
  story.exit(WorkerId(2), 0, "last output: \"bye\"");  // this one had joined
  CHECK(story.job(job).recovery.last_error ==
        "w-2 exited with code 0 before the training had finished; to end it early a program calls job.finish() or "
        "tidepool_finish(); last output: \"bye\"");
  CHECK(story.last("worker.lost").data["detail"] ==
        "exited before the training had finished; to end it early a program calls job.finish() or tidepool_finish(); "
        "last output: \"bye\"");
}

TEST_CASE("A program that does not know of Tidepool is not started again and again: it would end in the same way") {
  Story story;
  story.node(1);
  const JobId job = story.submit({.max = 1});
  story.decide();
  story.learn(
      core::WorkerExited{.worker = WorkerId(1), .exit_code = 0, .detail = "last output: done", .never_joined = true});
  story.decide();
  CHECK(story.job(job).state() == core::JobState::kFailed);
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(story.last("worker.lost").data["detail"] ==
        "a program that does not use the tidepool package needs run.resize: restart; last output: done");
}

TEST_CASE("The last line of a lost worker's output is told as that, not as the reason") {
  Story story;
  story.node(1);
  const JobId job = story.submit({.max = 1});
  story.decide();
  story.ready(WorkerId(1));
  story.exit(WorkerId(1), 3, "last output: \"RESIZE to 2\"");
  CHECK(story.job(job).recovery.last_error == "w-1 exited with code 3; last output: \"RESIZE to 2\"");
}

TEST_CASE("Reports of an older generation change nothing") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 1);
  story.wish(job, 2);
  story.steps(job, 1);
  story.settle(job);
  const auto before = core::digest_of(story.state());
  CHECK(story.learn(core::StepsMeasured{job, 1, 99, 3, Duration::millis(3), 64}).empty());
  CHECK(story.learn(core::GenerationSwitched{job, 1}).empty());
  CHECK(core::digest_of(story.state()) == before);
}

TEST_CASE("A job keeps the newest batch and the newest noise scale that was known") {
  Story story;
  story.node(2);
  const JobId job = story.running({}, 1);
  const auto report = [&](std::int64_t batch, std::optional<double> noise) {
    core::StepsMeasured steps{
        job, story.job(job).membership.generation, story.job(job).progress.step + 1, 1, Duration::millis(1), 64};
    steps.global_batch = batch;
    steps.noise_scale = noise;
    return story.learn(steps);
  };
  const auto first = report(512, 900.0);
  CHECK(first.back().data.at("noise_scale") == 900.0);
  report(0, std::nullopt);
  CHECK(story.job(job).progress.global_batch == 512);
  CHECK(story.job(job).progress.noise_scale == 900.0);
  report(1024, 700.0);
  CHECK(story.job(job).progress.global_batch == 1024);
  CHECK(story.job(job).progress.noise_scale == 700.0);
}

TEST_CASE("What is said twice changes nothing the second time") {
  Story story;
  const NodeId node = story.node(2);
  const JobId job = story.submit({.min = 2, .max = 2});
  story.decide();
  story.ready(WorkerId(1));
  const auto repeated = [&](core::Fact fact) {
    const auto before = core::digest_of(story.state());
    CHECK(story.learn(std::move(fact)).empty());
    CHECK(core::digest_of(story.state()) == before);
  };
  repeated(core::WorkerReady{WorkerId(1)});
  story.ready(WorkerId(2));
  story.decide();
  story.switched(job);
  repeated(core::GenerationSwitched{job, 1});
  story.learn(core::NodeCordonChanged{node, true});
  repeated(core::NodeCordonChanged{node, true});
  story.exit(WorkerId(1), 1);
  repeated(core::WorkerExited{WorkerId(1), 1, 0, ""});
  repeated(core::WorkerReady{WorkerId(1)});
  story.learn(core::NodeLost{node, "away"});
  repeated(core::NodeLost{node, "away"});
  story.learn(core::JobCancelRequested{job});
  repeated(core::JobCancelRequested{job});
}

TEST_CASE("Steps prove the switch when its report was lost") {
  Story story;
  story.node(1);
  const JobId job = story.submit({.max = 1});
  story.decide();
  story.ready(WorkerId(1));
  story.decide();
  story.steps(job, 3);
  CHECK(story.job(job).membership.switched);
  CHECK(story.job(job).state() == JobState::kRunning);
  CHECK(story.job(job).measurements.sizes.at(1).steps == 2);
}

TEST_CASE("The first step after a switch is not measured") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1}, 1);
  CHECK(story.job(job).measurements.sizes.at(1).steps == 1);
  story.steps(job, 5);
  CHECK(story.job(job).measurements.sizes.at(1).steps == 6);
  CHECK(story.job(job).measurements.sizes.at(1).samples_per_second == Approx(640));
  CHECK(story.job(job).progress.samples == 7 * 64);
}

TEST_CASE("A lost node keeps its slots and its workers are left behind") {
  Story story;
  const NodeId stays = story.node(1);
  const NodeId lost = story.node(1);
  const JobId job = story.running({.max = 2}, 2);
  const WorkerId away = story.job(job).membership.members[story.worker(WorkerId(1)).node == lost ? 0 : 1];
  story.learn(core::NodeLost{lost, "no heartbeat for 15 s"});
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.job(job).size() == 1);
  CHECK(story.job(job).membership.workers.size() == 2);
  story.switched(job);
  story.decide();
  SECTION("and stopped when the node comes back with them") {
    story.node(1, "n2", {away});
    const auto decision = story.decide();
    REQUIRE(names_of(decision) == "stop_worker");
    CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).worker == away);
    CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).grace == Duration());
    story.exit(away, -1);
    CHECK(story.job(job).recovery.restarts == 1);
    CHECK(names_of(story.decide()) == "grow");
  }
  SECTION("and forgotten when the node comes back without them") {
    story.node(1, "n2", {});
    CHECK(story.state().find_worker(away) == nullptr);
    CHECK(story.job(job).recovery.restarts == 1);
  }
  CHECK(story.state().find_node(stays)->state == core::NodeState::kUp);
}

TEST_CASE("When a node takes all workers of a job, the job waits for other slots") {
  Story story;
  const NodeId lost = story.node(2);
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  story.node(2);
  story.learn(core::NodeLost{lost, "away"});
  CHECK(story.job(job).state() == JobState::kPending);
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(names_of(story.decide()) == "start");
  story.settle(job);
  CHECK(story.job(job).state() == JobState::kRunning);
}

TEST_CASE("An agent that comes back without a worker proves its death, but for starts on their way") {
  Story story;
  const NodeId node = story.node(3, "local");
  const JobId job = story.running({.max = 3, .cooldown = {}}, 2);
  story.wish(job, 3);
  story.steps(job, 1);
  story.decide();
  REQUIRE(story.worker(WorkerId(3)).phase == core::WorkerPhase::kStarting);
  story.node(3, "local", {WorkerId(1)});
  CHECK(story.state().find_worker(WorkerId(2)) == nullptr);
  CHECK(story.state().find_worker(WorkerId(3)) != nullptr);
  CHECK(story.job(job).recovery.restarts == 1);
  CHECK(story.count("node.joined") == 1);
  CHECK(story.state().find_node(node)->owners.size() == 3);
}

TEST_CASE("An agent may not come back with fewer slots than its workers hold") {
  Story story;
  story.node(2, "local");
  story.running({.min = 2, .max = 2}, 2);
  const auto why = story.refuses(core::NodeJoined{NodeId(1), "local", 1, "cpu", {}, {WorkerId(1), WorkerId(2)}});
  CHECK(why.find("as many slots as before") != std::string::npos);
  CHECK(why.find("schedctl node remove local") != std::string::npos);
  story.node(1, "local", {WorkerId(1)});
  CHECK(story.state().slots_total() == 1);
}

TEST_CASE("A stop that may not have arrived is sent again when the agent is back") {
  Story story;
  story.node(1, "local");
  const JobId job = story.running({.max = 1}, 1);
  story.learn(core::JobCancelRequested{job});
  CHECK(names_of(story.decide()) == "stop_worker");
  story.node(1, "local", {WorkerId(1)});
  CHECK(names_of(story.decide()) == "stop_worker");
}

TEST_CASE("A cancelled job on a lost node ends, and its worker is stopped when it is seen again") {
  Story story;
  const NodeId node = story.node(1, "local");
  const JobId job = story.running({.max = 1}, 1);
  story.learn(core::NodeLost{node, "away"});
  story.learn(core::JobCancelRequested{job});
  CHECK(names_of(story.decide()) == "end_job");
  CHECK(story.job(job).state() == JobState::kCancelled);
  story.node(1, "local", {WorkerId(1)});
  CHECK(names_of(story.decide()) == "stop_worker");
  story.exit(WorkerId(1), -1);
  CHECK(story.state().slots_free() == 1);
}

TEST_CASE("Workers that an agent runs and the state does not place there are unknown") {
  Story story;
  const NodeId first = story.node(1);
  const NodeId second = story.node(1);
  story.running({.min = 2, .max = 2}, 2);
  const WorkerId here = story.worker(WorkerId(1)).node == first ? WorkerId(1) : WorkerId(2);
  CHECK(core::unknown_workers(story.state(), first, {here}).empty());
  CHECK(core::unknown_workers(story.state(), second, {here, WorkerId(9)}) == std::vector{here, WorkerId(9)});
}

TEST_CASE("A job pays for what it held, to the millionth, however often it is charged") {
  const auto cost_after = [](int reports) {
    Story story;
    story.node(2, "local", {}, Money::micros(3'333'333));
    const JobId job = story.running({.min = 2, .max = 2}, 2);
    for (int i = 0; i < reports; ++i) story.steps(job, 600 / reports);
    return story.job(job).account.cost;
  };
  // 2 slots x (60 s + 0.2 s of the first steps) at 3.333333 an hour
  CHECK(cost_after(1) == cost_of(Money::micros(3'333'333), 2, Duration::millis(60'200)));
  CHECK(cost_after(1) == cost_after(200));
}

TEST_CASE("Slots on a lost node cost nothing") {
  Story story;
  const NodeId node = story.node(1);
  const JobId job = story.running({.max = 1}, 1);
  story.learn(core::NodeLost{node, "away"});
  const Money before = story.job(job).account.cost;
  story.pass(Duration::seconds(3600));
  story.learn(core::JobCancelRequested{job});
  CHECK(story.job(job).account.cost == before);
}

TEST_CASE("The epoch audit is passed on as an event") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1}, 1);
  story.learn(core::DataEpochAudited{job, 1, 100, 100, true});
  CHECK(story.last("data.epoch_audited").data["used"] == 100);
  CHECK(story.last("data.epoch_audited").data["epochs"] == 1);
}

TEST_CASE("Of many short epochs sound audits are told twice a second, with how many there were, and each broken one") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1}, 1);
  const auto next_event = story.state().next_event;
  std::int64_t epoch = 0;
  for (int tenth = 0; tenth < 1000; ++tenth) {
    for (int i = 0; i < 10; ++i) story.learn(core::DataEpochAudited{job, ++epoch, 100, 100, true});
    story.pass(Duration::millis(100));
  }
  CHECK(story.count("data.epoch_audited") <= 120 + 2 * 100 + 1);
  CHECK(story.count("data.epoch_audited") >= 2 * 100);
  CHECK(story.state().next_event == next_event + 10'000);  // as if each had been told, as earlier versions do
  std::int64_t told = story.job(job).progress.audits_untold;
  for (const auto& event : story.events()) {
    if (event.type == "data.epoch_audited") told += event.data["epochs"].get<std::int64_t>();
  }
  CHECK(told == epoch);
  for (int i = 0; i < 10; ++i) story.learn(core::DataEpochAudited{job, ++epoch, 100, 99, true});
  CHECK(story.last("data.epoch_audited").data["epoch"] == epoch);
  CHECK(story.last("data.epoch_audited").data["epochs"] == 1);
  const auto untold = story.job(job).progress.audits_untold;
  story.learn(core::TrainingFinished{job, 10, 1.0, {}});
  story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(job).membership.workers)) story.exit(worker);
  story.decide();
  CHECK(story.last("job.finished").data["epochs_untold"] == untold);
}

TEST_CASE("A reader's copy of the state does not change under it") {
  Story story;
  story.node(1);
  const JobId job = story.running({.max = 1}, 1);
  const core::ClusterState copy = story.state();
  const auto before = core::digest_of(copy);
  story.steps(job, 5);
  CHECK(core::digest_of(copy) == before);
  CHECK(copy.find_job(job)->progress.step == 2);
}

}  // namespace
}  // namespace tidepool::test
