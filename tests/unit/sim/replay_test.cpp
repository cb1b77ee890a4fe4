// The replay's rules on a profile small enough to reckon by hand: one application, one useful step a second on one
// slot.
#include <catch2/catch.hpp>

#include <map>

#include "studies/replay/csv_columns.hpp"
#include "studies/replay/pollux/pollux_run.hpp"
#include "studies/sim_run.hpp"

namespace tidepool::sim {
namespace {

ApplicationFiles application(const std::string& step_time, const std::string& epoch_end) {
  const auto epochs = [&](const std::string& first, const std::string& second) {
    return "progress,iteration,metric,grad_sqr,grad_var\n" + first + ",100,1,1,1\n" + second + ",200,1,1,1\n";
  };
  return {{"placements.csv", "placement,local_bsz,step_time,sync_time\n1,8," + step_time + ",0.0\n1,16,2.0,0.0\n2,8," +
                                 step_time + ",0.1\n2,16,2.0,0.1\n11,8," + step_time + ",0.2\n11,16,2.0,0.2\n"},
          {"validation-8.csv", epochs(epoch_end, std::to_string(2 * std::stoi(epoch_end)))},
          {"validation-32.csv", epochs("1000", "2000")},
          {"notes.txt", "left alone"}};
}

SimOptions options(const std::string& rows, const std::string& cluster) {
  SimOptions options{.workload = "by-hand.csv", .cluster = cluster, .policy = "tiresias", .simulator = "pollux"};
  options.workload_csv = "name,time,application,num_replicas,batch_size\n" + rows;
  options.profiles["app"] = application("1.0", "100");
  return options;
}

SimReport run_sound(const SimOptions& options) {
  auto report = run(options);
  INFO((report.ok() ? "" : report.error().message));
  REQUIRE(report.ok());
  return *std::move(report);
}

// Gives each job a slot and notes, by job and round, what others let expect of it; 0 = nothing.
class Noting final : public policies::cluster::AllocationPolicy {
 public:
  [[nodiscard]] policies::cluster::Allocation allocate(const policies::cluster::View& view,
                                                       core::StepBudget& /*budget*/) const override {
    policies::cluster::Allocation allocation;
    for (const auto& job : view.jobs) {
      noted[job.id].push_back(job.useful_expected.value_or(0));
      allocation.order.push_back(allocation.grants.size());
      allocation.grants.push_back({.size = 1, .reason = {}, .lost = {}, .mark = {}});
    }
    return allocation;
  }
  mutable std::map<JobId, std::vector<double>> noted;
};

std::string error_of(const SimOptions& options) {
  const auto report = run(options);
  return report.ok() ? "" : report.error().message;
}

}  // namespace

TEST_CASE("a job is seen at the end of a round, stands 30 s, and trains to the second") {
  // Submitted at 10, seen at 60, trains from 90, has 200 steps of a second: ends at 290.
  CHECK(run_sound(options("a,10,app,1,8\n", "1x1")).score.avg_jct_s == 280);
  // Seen at once when submitted at the end of a round.
  CHECK(run_sound(options("a,60,app,1,8\n", "1x1")).score.avg_jct_s == 230);
}

TEST_CASE("a job that waits starts at the end of the round in which the slot was freed") {
  const SimReport report = run_sound(options("a,10,app,1,8\nb,20,app,1,8\n", "1x1"));
  CHECK(report.per_job_csv.find("\na,app,,succeeded,10,60,290,50,280,") != std::string::npos);
  CHECK(report.per_job_csv.find("\nb,app,,succeeded,20,300,530,280,510,") != std::string::npos);
}

TEST_CASE("the time to the end of an epoch is rounded half to even") {
  SimOptions half = options("a,10,app,1,8\n", "1x1");
  half.profiles["app"] = application("0.5", "101");
  // From 90: 60 steps by 120; 20.5 s to step 101 become 20; 80 more by 180; 10.5 s to step 202 become 10.
  CHECK(run_sound(half).score.avg_jct_s == 180);
}

TEST_CASE("a larger batch brings its gain and pays its accumulation") {
  // Batch 16 on one worker above the initial 8: two pieces of 8, so 2 s a step; gain (1 + 1) / (1 / 2 + 1) = 4/3.
  // 200 useful steps at 2/3 a second take 300 s.
  CHECK(run_sound(options("a,0,app,1,16\n", "1x1")).score.avg_jct_s == 60 - 60 + 60 + 30 + 300);
}

TEST_CASE("round and restart delay are options") {
  SimOptions quick = options("a,10,app,1,8\n", "1x1");
  quick.round = Duration::seconds(20);
  quick.restart_penalty = Duration::seconds(1);
  CHECK(run_sound(quick).score.avg_jct_s == 20 + 1 + 200 - 10);
}

TEST_CASE("interference slows a job on several nodes while it lies beside another such job, and no other") {
  const auto average_s = [](const std::string& rows, const std::string& cluster, double interference) {
    SimOptions setup = options(rows, cluster);
    setup.profiles["app"]["placements.csv"] += "4,8,1.0,0.0\n4,16,2.0,0.0\n13,8,1.0,0.0\n13,16,2.0,0.0\n";
    setup.interference = interference;
    return run_sound(setup).score.avg_jct_s;
  };
  // Four workers each on nodes of three slots: three on a node of its own, one on the node that both share.
  const std::string two = "a,0,app,4,32\nb,0,app,4,32\n";
  const double start_s = 60 + 30;  // seen at the end of the first round; the ends of epochs are whole seconds
  CHECK(average_s(two, "3x3", 0.5) - start_s == Approx(2 * (average_s(two, "3x3", 0) - start_s)).margin(3));
  CHECK(average_s("a,0,app,4,32\n", "3x3", 0.5) == average_s("a,0,app,4,32\n", "3x3", 0));  // beside none
  CHECK(average_s(two, "2x4", 0.5) == average_s(two, "2x4", 0));                            // each on a node of its own
}

TEST_CASE("what is expected of a job comes from its application, or from those as fast, or from none") {
  // Nine end before the others begin: two as fast as they, one of which is another application, and a slow one.
  constexpr std::size_t kFirst = 9;
  std::string rows;
  for (std::size_t i = 0; i < kFirst; ++i) rows += "a" + std::to_string(i) + ",0,app,1,8\n";
  SimOptions told = options(rows + "b,600,app,1,8\nc,600,twin,1,8\nd,600,slow,1,8\n", "3x4");
  told.profiles["twin"] = application("1.0", "100");
  told.profiles["slow"] = application("3.0", "100");
  const auto expected = [&](bool kind_prior, bool kin_by_pace) {
    const Noting policy;
    told.policy_file = &policy;
    told.kind_prior = kind_prior;
    told.kin_by_pace = kin_by_pace;
    run_sound(told);
    REQUIRE(policy.noted.size() == kFirst + 3);
    std::vector<std::vector<double>> rounds;
    for (const auto& [job, of] : policy.noted) {
      if (rounds.size() < kFirst) CHECK(of.front() == 0);  // no job has done anything yet
      rounds.push_back({of.at(0), of.at(1)});
    }
    rounds.erase(rounds.begin(), rounds.begin() + kFirst);
    return rounds;
  };
  // At first sight, and after its first round, in which it stood for 30 s and then did 30 steps of 200.
  CHECK(expected(true, false) == std::vector<std::vector<double>>{{200, 170}, {0, 0}, {0, 0}});
  CHECK(expected(true, true) == std::vector<std::vector<double>>{{0, 170}, {0, 170}, {0, 0}});
  CHECK(expected(false, true) == expected(true, true));
  CHECK(expected(false, false) == std::vector<std::vector<double>>{{0, 0}, {0, 0}, {0, 0}});
}

TEST_CASE("every policy of the table finishes a small workload, twice with the same digest") {
  for (const char* policy : {"fifo", "las", "optimus", "srtf", "tidal", "tiresias"}) {
    SimOptions setup = options("a,0,app,2,16\nb,30,app,1,8\nc,200,app,2,32\nd,210,app,1,16\n", "2x1");
    setup.policy = policy;
    const SimReport first = run_sound(setup);
    INFO(policy);
    CHECK(first.score.completed == 4);
    CHECK(first.score.digest == run_sound(setup).score.digest);
  }
}

TEST_CASE("what is wrong with a replay's input is said with its place") {
  CHECK(error_of(options("a,10,app,1\n", "1x1")) == "by-hand.csv line 2: 4 cells, the first line has 5");
  CHECK(error_of(options("a,x,app,1,8\n", "1x1")) == "by-hand.csv line 2: \"x\" is not a number");
  CHECK(error_of(options("a,10,other,1,8\n", "1x1")).starts_with("the profiles have no application called \"other\""));
  CHECK(error_of(options("", "1x1")) == "the workload by-hand.csv has no job");
  SimOptions broken = options("a,10,app,1,8\n", "1x1");
  broken.profiles["app"]["validation-8.csv"] = "progress,iteration,metric,grad_sqr,grad_var\n1,1,1,nan,1\n";
  CHECK(error_of(broken) == "app/validation-8.csv line 2: a number must be finite");
  const std::string epochs = "progress,iteration,metric,grad_sqr,grad_var\n";
  broken.profiles["app"]["validation-8.csv"] = epochs + "100,1,1,1,1\n100,2,1,1,1\n";
  CHECK(error_of(broken) ==
        "app/validation-8.csv line 3: progress must be above 0, and above that of the epoch before it");
  broken.profiles["app"]["validation-8.csv"] = epochs + "100,1,1,-1,1\n";
  CHECK(error_of(broken) ==
        "app/validation-8.csv line 2: grad_sqr and grad_var must not be below 0, nor both of them 0");
  broken.profiles["app"]["placements.csv"] = "placement,local_bsz,step_time,sync_time\n1,8,0,0.0\n";
  CHECK(error_of(broken) == "app/placements.csv line 2: step_time must be above 0, and sync_time not below 0");
  broken.profiles["app"].erase("placements.csv");
  CHECK(error_of(broken) == "the application app has no placements.csv");
  // Three workers on three nodes were never measured.
  CHECK(error_of(options("a,10,app,3,32\n", "3x1")) ==
        "the profile of app says nothing about 1+1+1 workers at the batch chosen for them");
}

}  // namespace tidepool::sim
