// The small parts of the simulator: event heap, job model, workloads, cluster shape, faults, journal, scoreboard.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "base/event_heap.hpp"
#include "sim/cluster_model.hpp"
#include "sim/fault_mix.hpp"
#include "sim/job_model.hpp"
#include "sim/memory_journal.hpp"
#include "sim/scoreboard.hpp"
#include "sim/training_run.hpp"
#include "sim/workload.hpp"
#include "studies/replay/typed_cluster.hpp"

namespace tidepool::sim {
namespace {

TEST_CASE("events come out by time, and in the order they were put in within one instant") {
  EventHeap<int> heap;
  heap.push(Instant::from_micros(20), 1);
  heap.push(Instant::from_micros(10), 2);
  heap.push(Instant::from_micros(20), 3);
  heap.push(Instant::from_micros(10), 4);
  CHECK(heap.next_at() == Instant::from_micros(10));
  std::vector<int> order;
  while (!heap.empty()) order.push_back(heap.pop());
  CHECK(order == std::vector<int>{2, 4, 1, 3});
}

TEST_CASE("a throughput table is read between its points and held at its ends") {
  const GroundTruth truth{.table = {{2, 200}, {4, 300}}};
  CHECK(throughput_at(truth, 1) == 200);
  CHECK(throughput_at(truth, 2) == 200);
  CHECK(throughput_at(truth, 3) == 250);
  CHECK(throughput_at(truth, 8) == 300);
}

TEST_CASE("one slow member makes every step longer by what it computes longer") {
  Rng rng(1);
  const GroundTruth truth{.curve = {.lambda = 100, .sigma = 0, .kappa = 0}, .noise = 0, .global_batch = 100};
  CHECK(draw_step(truth, 2, 1, rng) == Duration::millis(500));
  CHECK(draw_step(truth, 2, 2, rng) == Duration::millis(1'000));
  const auto compute = draw_compute_us(truth, 50, {{.slowdown = 1}, {.slowdown = 2}}, rng);
  REQUIRE(compute.size() == 100);
  CHECK(compute[0] == Approx(500'000).epsilon(0.07));
  CHECK(compute[1] == Approx(1'000'000).epsilon(0.07));
}

TEST_CASE("a run counts whole steps only, and reports each of them once") {
  TrainingRun run;
  run.truth = {.work_samples = 1'000, .global_batch = 100};
  run.begin(Instant::from_micros(0), Duration::millis(10));
  run.advance(Instant::from_micros(35'000));
  CHECK(run.step == 3);
  const auto report = run.take_report({});
  REQUIRE(report);
  CHECK(report->steps == 3);
  CHECK(report->elapsed_us == 30'000);
  CHECK(report->samples == 300);
  CHECK_FALSE(run.take_report({}));
  run.advance(Instant::from_micros(1'000'000));
  CHECK(run.step == 10);
  CHECK(run.take_report({})->last_step == 10);
}

TEST_CASE("a cluster is written as nodes x slots, and anything else is refused with an example") {
  CHECK(parse_cluster("16x4")->slots() == 64);
  CHECK(parse_cluster("16x4")->text() == "16x4");
  for (const char* wrong : {"", "16", "x4", "16x", "0x4", "16x0", "16x4x2", "-1x4", "16X4", "100001x1"}) {
    CAPTURE(wrong);
    REQUIRE_FALSE(parse_cluster(wrong).ok());
    CHECK(parse_cluster(wrong).error().message.find("16x4") != std::string::npos);
  }
}

TEST_CASE("the form of published traces is read, and an application keeps its curve") {
  const std::string text =
      "name,time,application,num_replicas,batch_size\ncifar10-1,154,cifar10,6,2048\ncifar10-0,53,cifar10,2,2048\r\n"
      "imagenet-0,60,imagenet,4,400\n";
  const auto workload = read_workload_csv(text, {.name = "trace", .seed = 7});
  REQUIRE(workload.ok());
  REQUIRE(workload->jobs.size() == 3);
  CHECK(workload->jobs[0].spec.name == "cifar10-0");
  CHECK(workload->jobs[0].arrives == Duration::seconds(53));
  CHECK(workload->jobs[0].spec.elastic.preferred == 2);
  CHECK(workload->jobs[0].spec.batch.global == 2'048);
  CHECK(workload->jobs[0].truth.curve.lambda == workload->jobs[2].truth.curve.lambda);
  CHECK(workload->jobs[0].truth.work_samples != workload->jobs[2].truth.work_samples);
  CHECK(workload->jobs[1].truth.work_samples > 50 * workload->jobs[0].truth.work_samples);
  const auto again = read_workload_csv(text, {.name = "trace", .seed = 7});
  CHECK(again->jobs[1].truth.work_samples == workload->jobs[1].truth.work_samples);
}

TEST_CASE("Tidepool's own form gives the truth") {
  const auto workload = read_workload_csv(
      "name,tenant,submit_s,priority,min,max,preferred,batch,samples,samples_per_second,sigma,kappa\n"
      "a,team,1.5,3,1,8,2,64,6400,100,0.1,0.01\n",
      {.name = "own"});
  REQUIRE(workload.ok());
  const SimJob& job = workload->jobs[0];
  CHECK(job.arrives == Duration::millis(1'500));
  CHECK(job.spec.tenant == "team");
  CHECK(job.spec.priority == 3);
  CHECK(job.spec.elastic.max == 8);
  CHECK(job.truth.curve.sigma == 0.1);
  CHECK(steps_of(job.truth) == 100);
}

TEST_CASE("a wrong workload is refused with the line and what it should hold") {
  const auto message = [](const std::string& text) {
    return read_workload_csv(text, {.name = "w.csv"}).error().message;
  };
  const std::string own =
      "name,tenant,submit_s,priority,min,max,preferred,batch,samples,samples_per_second,sigma,kappa\n";
  CHECK(message("") == "w.csv holds no job");
  CHECK(message("a,b\n").starts_with("w.csv line 1: the first line should be"));
  CHECK_THAT(message("submit_s,gpus\n"), Catch::Contains("at least submit_s,gpus,duration_s, of which it lacks "
                                                         "duration_s; what another scheduler wrote"));
  CHECK_THAT(message("\"submit_s\",\"gpus\"\n"), Catch::Contains("CSV in quotes is not read"));
  CHECK(message(own).find("no job") != std::string::npos);
  CHECK(message(own + "a,t,1,0,1\n").starts_with("w.csv line 2: it should hold 12 fields"));
  CHECK(message(own + "a,t,x,0,1,8,2,64,6400,100,0,0\n").find("submit_s is \"x\"") != std::string::npos);
  CHECK(message(own + "a,t,1,0,4,2,2,64,6400,100,0,0\n").find("min <= preferred <= max") != std::string::npos);
  CHECK(message(own + "a,t,1,0,1,8,2,0,6400,100,0,0\n").find("batch is \"0\"") != std::string::npos);
  CHECK(message(own + "a,t,1,0,1,8,2,64,6400,nan,0,0\n").find("samples_per_second") != std::string::npos);
  CHECK(message(own + "a,t,1,0,1,8,2,64,6400,9,0,0\na,t,2,0,1,8,2,64,6400,9,0,0\n").find("used twice") !=
        std::string::npos);
  CHECK(message(own + "\"a\",t,1,0,1,8,2,64,6400,9,0,0\n").find("without quotes") != std::string::npos);
}

TEST_CASE("a generated workload has sound jobs in order of arrival, and depends on its seed alone") {
  const Workload workload = generate_workload({.seed = 11, .jobs = 500});
  const Workload again = generate_workload({.seed = 11, .jobs = 500});
  REQUIRE(workload.jobs.size() == 500);
  Duration before;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const SimJob& job = workload.jobs[i];
    REQUIRE(job.arrives >= before);
    before = job.arrives;
    const auto& elastic = job.spec.elastic;
    REQUIRE(elastic.min >= 1);
    REQUIRE(elastic.min <= elastic.preferred);
    REQUIRE(elastic.preferred <= elastic.max);
    REQUIRE(elastic.sizes.front() == elastic.min);
    REQUIRE(elastic.sizes.back() == elastic.max);
    REQUIRE(job.truth.work_samples >= job.truth.global_batch);
    REQUIRE(again.jobs[i].spec == job.spec);
  }
  CHECK(generate_workload({.seed = 12, .jobs = 500}).jobs[0].arrives != workload.jobs[0].arrives);
}

TEST_CASE("faults are drawn by time, at about their rate, each kind from its own numbers") {
  Rng rng(5);
  const FaultMix mix{.node_crash_every = Duration::seconds(100), .until = Duration::seconds(100'000)};
  const auto faults = draw_faults(mix, rng);
  CHECK(faults.size() > 850);
  CHECK(faults.size() < 1'150);
  for (std::size_t i = 1; i < faults.size(); ++i) REQUIRE(faults[i - 1].at <= faults[i].at);
  Rng same(5);
  FaultMix more = mix;
  more.worker_death_every = Duration::seconds(50);
  std::size_t crashes = 0;
  for (const auto& fault : draw_faults(more, same)) crashes += fault.kind == FaultKind::kNodeCrash ? 1 : 0;
  CHECK(crashes == faults.size());
}

TEST_CASE("the journal keeps what was committed and loses what was not") {
  MemoryJournal journal;
  journal.append("a");
  journal.commit();
  journal.append("b");
  CHECK(journal.pending() == 1);
  journal.lose_uncommitted();
  CHECK(journal.records() == std::vector<std::string>{"a"});
  journal.compact("s");
  CHECK(journal.records().empty());
  CHECK(journal.snapshot() == "s");
}

struct Scored {
  SimResult result;
  Workload workload;
  ClusterShape cluster{.nodes = 1, .slots_per_node = 4};

  // A job that ran at one worker, 100 samples a second.
  void add(double submitted, double started, double finished, double slot_seconds) {
    SimJob job{.arrives = Duration::from_seconds(submitted)};
    job.truth = {.curve = {.lambda = 100, .sigma = 0, .kappa = 0}, .work_samples = 10'000, .global_batch = 100};
    job.spec.elastic.sizes = {1, 2, 4};
    workload.jobs.push_back(job);
    result.rows.push_back({.name = "j",
                           .state = core::JobState::kSucceeded,
                           .submitted_s = submitted,
                           .started_s = started,
                           .finished_s = finished,
                           .slot_seconds = slot_seconds});
  }
};

TEST_CASE("the scoreboard of two jobs is what one computes by hand") {
  Scored scored;
  scored.add(0, 10, 100, 90);
  scored.add(50, 60, 250, 400);
  scored.result.decide_ns = {1'000, 2'000, 9'000};
  scored.result.digest = 0xabc;
  const Scoreboard board = score({.result = scored.result,
                                  .cluster = scored.cluster,
                                  .workload = scored.workload.name,
                                  .policy = "fixed",
                                  .alone_seconds = alone_in(scored.workload),
                                  .wall_s = 1.5});
  CHECK(board.completed == 2);
  CHECK(board.avg_jct_s == Approx(150));
  CHECK(board.p50_jct_s == Approx(100));
  CHECK(board.p99_jct_s == Approx(200));
  CHECK(board.makespan_s == Approx(250));
  CHECK(board.avg_queue_s == Approx(10));
  CHECK(board.gpu_hours == Approx(490.0 / 3'600));
  CHECK(board.utilization == Approx(490.0 / 1'000));
  CHECK(board.decision_us_p50 == Approx(2));
  CHECK(board.decision_us_p99 == Approx(9));
  CHECK(board.digest == "0000000000000abc");
  // First job: 1.5 jobs present on the mean, so 2.67 slots, size 2, 50 s alone; it took 100 s.
  const auto fairness = finish_time_fairness(
      {.result = scored.result, .cluster = scored.cluster, .alone_seconds = alone_in(scored.workload)});
  CHECK(fairness[0] == Approx(2));
  // Second: 1.25 present, 3.2 slots, size 2, 50 s alone; it took 200 s.
  CHECK(fairness[1] == Approx(4));
  CHECK(board.ftf_worst == Approx(4));
  CHECK(board.ftf_unfair_fraction == Approx(1));
}

TEST_CASE("the printed object has every field of the contract, in its order") {
  std::string names;
  const auto object = to_json(Scoreboard{});
  for (const auto& [name, value] : object.items()) names += name + " ";
  CHECK(names ==
        "policy workload cluster jobs completed avg_jct_s p50_jct_s p90_jct_s p99_jct_s makespan_s avg_queue_s "
        "gpu_hours utilization resizes preemptions ftf_worst ftf_unfair_fraction jct_bound_s gap_p50 gap_p99 decisions "
        "decision_us_p50 "
        "decision_us_p99 wall_s digest ");
  // What was not computed is not 0, nor what is of completed jobs where there are none.
  for (const char* name : {"jct_bound_s", "gap_p50", "gap_p99", "avg_jct_s", "p50_jct_s", "p90_jct_s", "p99_jct_s",
                           "avg_queue_s", "ftf_worst", "ftf_unfair_fraction"}) {
    CHECK(object.at(name).is_null());
  }
}

TEST_CASE("a job that never started leaves its times empty in the rows") {
  const std::string csv = per_job_csv({{.name = "late", .application = "a", .tenant = "t", .submitted_s = 2.5}});
  CHECK(csv.substr(csv.find('\n') + 1) == "late,a,t,pending,2.5,,,,,0,0,0,0,\n");
}

TEST_CASE("the slots of all parts of a cluster together are bounded") {
  REQUIRE(parse_typed_cluster("50000x1024:v100,50000x1024:p100").ok());
  const auto refused = parse_typed_cluster("100000x1024:v100,1x1:p100");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("at most 102400000 slots") != std::string::npos);
}

TEST_CASE("the price of a type of slot is a finite number above 0") {
  const auto cluster = parse_typed_cluster("8x1:v100@2.48,16x1:p100");
  REQUIRE(cluster.ok());
  CHECK(cluster->parts[0].price_per_hour == 2.48);
  CHECK(cluster->parts[1].price_per_hour == 0);
  for (const char* price : {"inf", "nan", "-1", "0", "1e999", "1.4.6", ""}) {
    INFO(price);
    const auto refused = parse_typed_cluster(std::string("8x1:v100@") + price);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("a number above 0") != std::string::npos);
  }
}

}  // namespace
}  // namespace tidepool::sim
