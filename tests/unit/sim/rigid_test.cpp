// Jobs of a fixed size: workloads drawn from seeds, and their replay in rounds.
#include <catch2/catch.hpp>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "studies/baselines/registry.hpp"
#include "studies/replay/replay.hpp"
#include "studies/replay/rigid/rigid_training.hpp"
#include "studies/sim_run.hpp"
#include "studies/traces/rigid_workloads.hpp"

namespace tidepool::sim {
namespace {

constexpr const char* kTwoJobs =
    "name,submit_s,gpus,duration_s\n"
    "long,0,2,1000\n"
    "short,70,2,100\n";

SimReport replayed(const std::string& policy, bool declared = true) {
  const auto report = run({.workload = "two.csv",
                           .workload_csv = kTwoJobs,
                           .cluster = "1x2",
                           .policy = policy,
                           .simulator = "rigid",
                           .declared_work = declared});
  REQUIRE(report.ok());
  return *report;
}

// A job of one round on one slot, which counts how often it is looked at.
class Watched final : public Training {
 public:
  explicit Watched(std::int64_t& looks) : looks_(looks) {}
  void hold(const std::vector<int>& slots) override { holds_ = !slots.empty(); }
  Status advance(std::int64_t from_s, int seconds) override {
    ++looks_;
    if (holds_) finished_s_ = from_s + seconds;
    return ok_status();
  }
  [[nodiscard]] std::optional<std::int64_t> finished_s() const override { return finished_s_; }
  void describe(policies::cluster::JobRow& row) const override {
    ++looks_;
    row.speed = &speed_;
  }
  [[nodiscard]] double slot_seconds() const override { return 0; }
  [[nodiscard]] double alone_seconds(double /*slots*/) const override { return 60; }

 private:
  std::int64_t& looks_;
  RigidSpeed speed_{1};
  bool holds_ = false;
  std::optional<std::int64_t> finished_s_;
};

}  // namespace

TEST_CASE("a drawn workload of fixed sizes follows from its kind and seed, and fits 64 slots") {
  for (const RigidKind& kind : kRigidKinds) {
    const auto drawn = rigid_workload(kind.name, 3);
    REQUIRE(drawn.ok());
    CHECK(drawn->jobs == rigid_workload(kind.name, 3)->jobs);
    CHECK(drawn->jobs != rigid_workload(kind.name, 4)->jobs);
    std::set<std::string> names;
    double before = 0;
    for (const TraceJob& job : drawn->jobs) {
      names.insert(job.name);
      CHECK(job.gpus >= 1);
      CHECK(job.gpus <= 32);
      CHECK(job.duration_s >= 1);
      CHECK(job.submit_s >= before);
      before = job.submit_s;
    }
    CHECK(names.size() == drawn->jobs.size());
  }
  CHECK_FALSE(rigid_workload("broad", 1).ok());
}

TEST_CASE("in a replay of fixed sizes a job stands still for each start and then does a second of its work a second") {
  // Backfill preempts none: the second one starts at the end of the round in which the first ends, 60 + 30 + 1000.
  const SimReport backfill = replayed("backfill");
  CHECK(backfill.rows[0].finished_s == 1'090);
  CHECK(backfill.rows[1].finished_s == 1'140 + 30 + 100);
  CHECK(backfill.score.preemptions == 0);
  // The shorter one goes first; the longer one had done 30 s and starts again at 300.
  const SimReport shortest = replayed("srtf");
  CHECK(shortest.rows[1].finished_s == 120 + 30 + 100);
  CHECK(shortest.rows[0].finished_s == 300 + 30 + 970);
  CHECK(replayed("tidal").rows[1].finished_s == 250);
  // Where the length of jobs is not declared, the oldest goes first.
  CHECK(replayed("srtf", false).rows[0].finished_s == 1'090);
}

TEST_CASE("jobs that are shorter than a round all complete, however many wait for one slot") {
  std::string jobs = "submit_s,gpus,duration_s\n";
  for (int i = 0; i < 100; ++i) jobs += "0,1,0.5\n";
  SimOptions options{.workload = "t.csv", .cluster = "1x1", .policy = "fifo", .simulator = "rigid"};
  options.workload_csv = jobs;
  const auto report = run(options);
  REQUIRE(report.ok());
  CHECK(report->score.completed == 100);
  CHECK(report->trouble.empty());
  CHECK(report->score.makespan_s == 100 * 60 + 30 + 1);  // one a round, the last one from the hundredth on
}

TEST_CASE("a round looks at the jobs that wait or run in it, and at no other job of the trace") {
  constexpr int kJobs = 300;
  const auto preset = studies::find_preset("fifo");
  REQUIRE(preset.ok());
  const auto policy = preset->policy();
  const auto place = preset->place();
  std::int64_t looks = 0;
  std::vector<ReplayJob> jobs;
  for (int i = 0; i < kJobs; ++i) {
    jobs.push_back({.name = std::to_string(i),
                    .application = "",
                    .submitted_s = i * 600.0,  // ten rounds apart
                    .training = std::make_unique<Watched>(looks)});
  }
  ReplaySetup setup{.cluster = {.nodes = 1, .slots_per_node = 1},
                    .jobs = std::move(jobs),
                    .policy = *policy,
                    .place = *place,
                    .round_s = 60};
  const auto result = replay(setup);
  REQUIRE(result.ok());
  CHECK(result->complete);
  // It starts at the end of the round in which it comes, and has ended by the end of the next.
  CHECK(result->rows[0].finished_s == 120);
  CHECK(result->rows[kJobs - 1].finished_s == (kJobs - 1) * 600 + 60);
  CHECK(looks == 2 * kJobs);  // each is shown once, and runs for one round
}

TEST_CASE("a replay of fixed sizes says what jobs ask for that it does not know, and keeps whose they are") {
  SimOptions options{.workload = "t.csv", .cluster = "1x4", .policy = "edf", .simulator = "rigid"};
  options.workload_csv =
      "submit_s,gpus,duration_s,tenant,gpu_share,gpu_type,deadline_s\n0,1,60,lab,0.5,,\n0,1,60,lab,1,v100,100\n";
  const auto report = run(options);
  REQUIRE(report.ok());
  CHECK(report->rows[0].tenant == "lab");
  CHECK(report->notes ==
        std::vector<std::string>{
            "1 of 2 jobs ask for a part of a GPU; they are given whole ones",
            "1 of 2 jobs ask for a type of GPU that no part of --cluster is named by; they run anywhere",
            "1 of 2 jobs have a deadline, which --simulator rigid does not know: no policy sees it and none is judged "
            "by it"});
}

TEST_CASE("what is wrong with a trace or a cluster is told under the rules of fixed sizes as elsewhere") {
  SimOptions options{.workload = "t.csv", .cluster = "1x4", .policy = "fifo", .simulator = "rigid"};
  options.workload_csv = "submit_s,gpus\n0,1\n";
  CHECK(run(options).error().message.starts_with("t.csv: the first line names no column \"duration_s\""));
  options.workload_csv = "";
  CHECK(run(options).error().message == "t.csv is empty");
  options.workload_csv = "submit_s,gpus,duration_s\n0,1,60\n";
  options.cluster = "1x4:v100,1x4:k80";
  CHECK(run(options).error().message ==
        "\"1x4:v100,1x4:k80\": under these rules all slots are alike and have no type; write NODESxSLOTS, such as "
        "16x4");
}

TEST_CASE("a replay of fixed sizes takes a trace or a drawn workload, and jobs that fit") {
  SimOptions options{.workload = "rigid:gangs:2", .cluster = "8x8", .policy = "tidal", .simulator = "rigid"};
  const auto first = run(options);
  REQUIRE(first.ok());
  CHECK(first->score.completed == first->score.jobs);
  options.seed = 9;  // the workload has one of its own
  CHECK(run(options)->score.digest == first->score.digest);
  options.cluster = "1x8";
  CHECK_FALSE(run(options).ok());
  options.workload = "generated";
  CHECK_FALSE(run(options).ok());
  options.workload = "rigid:gangs:x";
  CHECK_FALSE(run(options).ok());
}

}  // namespace tidepool::sim
