// Workloads of the replays as other programs write them: fractions of a second, other names and orders of columns, and
// jobs that ask for what their profile does not allow.
#include <catch2/catch.hpp>

#include "sim/workload.hpp"
#include "studies/sim_run.hpp"

namespace tidepool::sim {
namespace {

using Catch::Matchers::Contains;

SimReport run_of_inputs(const SimOptions& options) {
  auto report = run(options);
  INFO((report.ok() ? "" : report.error().message));
  REQUIRE(report.ok());
  return *std::move(report);
}

SimOptions pollux(const std::string& workload, const std::string& cluster = "1x4") {
  SimOptions options{.workload = "jobs.csv", .cluster = cluster, .policy = "tiresias", .simulator = "pollux"};
  options.workload_csv = workload;
  options.profiles["app"] = {
      {"placements.csv",
       "placement,local_bsz,step_time,sync_time\n1,8,1.0,0.0\n1,16,2.0,0.0\n2,8,1.0,0.1\n2,16,2.0,0.1\n4,8,1.0,0.1\n"},
      {"validation-8.csv", "progress,iteration,metric,grad_sqr,grad_var\n100,100,1,1,1\n200,200,1,1,1\n"},
      {"validation-32.csv", "progress,iteration,metric,grad_sqr,grad_var\n1000,100,1,1,1\n2000,200,1,1,1\n"}};
  return options;
}

SimOptions elasticflow(const std::string& workload) {
  SimOptions options{.workload = "jobs.csv", .cluster = "1x4", .policy = "edf", .simulator = "elasticflow"};
  options.workload_csv = workload;
  options.profile_files["m.csv"] = "global_batch_size,1,2,4\n64,1.0,1.8,nan\n";
  return options;
}

SimOptions gavel(const std::string& size, const std::string& arrival) {
  SimOptions options{.workload = "jobs.trace", .cluster = "2x1:fast", .policy = "fifo", .simulator = "gavel"};
  options.workload_csv = "A\tc\tf\t-s\t1\t3600.0\t" + size + "\t1\t-1\t" + arrival + "\r\n";
  options.profile_files["speeds.json"] =
      R"json({"fast": {"('A', 1)": {"null": 10.0}, "('A', 2)": {"null": 18.0}, "('A', 4)": {"null": 0.0}}})json";
  return options;
}

}  // namespace

TEST_CASE("a time of a workload may have a fraction, and a count may be written as one") {
  const SimReport whole = run_of_inputs(pollux("name,time,application,num_replicas,batch_size\na,10,app,1,8\n"));
  const SimReport part = run_of_inputs(pollux("name,time,application,num_replicas,batch_size\na,10.5,app,1.0,8.0\n"));
  CHECK(part.score.avg_jct_s == whole.score.avg_jct_s - 0.5);
  const SimReport late =
      run_of_inputs(elasticflow("job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
                                "0,0.25,180.0,m,9000.5,64,2,100.5\n"));
  CHECK(late.score.deadlines_met == 1);
  CHECK(run_of_inputs(gavel("1", "0.5")).score.completed == 1);
}

TEST_CASE("what is no time, or no whole number, is still refused") {
  const auto message = [](const SimOptions& options) {
    const auto report = run(options);
    return report.ok() ? std::string("no error") : report.error().message;
  };
  constexpr const char* kHead = "name,time,application,num_replicas,batch_size\n";
  CHECK_THAT(message(pollux(kHead + std::string("a,-1,app,1,8\n"))), Contains("is no time from 0 s"));
  CHECK_THAT(message(pollux(kHead + std::string("a,1,app,1.5,8\n"))), Contains("\"1.5\" is not a whole number"));
  CHECK_THAT(message(pollux(kHead + std::string("a,1,app,1,8e12\n"))), Contains("is not a whole number"));
}

TEST_CASE("counts of 0, jobs of no length and names that stand twice are refused where they stand") {
  const auto message = [](const SimOptions& options) {
    const auto report = run(options);
    return report.ok() ? std::string("no error") : report.error().message;
  };
  constexpr const char* kHead = "name,time,application,num_replicas,batch_size\n";
  CHECK_THAT(message(pollux(kHead + std::string("a,1,app,1,8\na,2,app,1,8\n"))),
             Contains("line 3: the job \"a\" stands in a line above"));
  for (const char* row : {"1,0,1.0,0.0\n", "1,0.5,1.0,0.0\n", "1,-1,1.0,0.0\n", "1,1e300,1.0,0.0\n", ",8,1.0,0.0\n"}) {
    SimOptions options = pollux(kHead + std::string("a,1,app,1,8\n"));
    options.profiles["app"]["placements.csv"] += row;
    CHECK_THAT(message(options), Contains("app/placements.csv line 7"));
  }
  CHECK_THAT(message(pollux(kHead + std::string("\"a\",1,app,1,8\n"))), Contains("line 2: CSV in quotes is not read"));
  const std::string jobs = "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n";
  CHECK_THAT(message(elasticflow(jobs + "0,0,180,m,9000,64,0,100\n")), Contains("a count must be above 0"));
  CHECK_THAT(message(elasticflow(jobs + "0,0,0,m,9000,64,1,100\n")), Contains("a count must be above 0"));
  CHECK_THAT(message(elasticflow(jobs + "0,0,9,m,9000,64,1,100\n0,1,9,m,9000,64,1,100\n")),
             Contains("stands in a line above"));
  CHECK_THAT(message(gavel("1", "1e18")), Contains("is no time from 0 s"));
}

TEST_CASE("columns are found under the names of either of ElasticFlow's forms, in any order, behind marks and blanks") {
  const SimReport own = run_of_inputs(elasticflow(
      "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n0,5,180,m,9000,64,2,100\n"));
  const SimReport other =
      run_of_inputs(elasticflow("\xEF\xBB\xBFjob_id, deadline ,submission_time,num_iteration,model_name,"
                                "batch_size,num_gpu,duration,note\r\n0, 9000 ,5,180,m,64,2,100,x\r\n"));
  CHECK(other.score.digest == own.score.digest);
  CHECK(other.per_job_csv == own.per_job_csv);
}

TEST_CASE("the columns of a workload for live runs come in any order, with others beside them") {
  const auto own =
      read_workload_csv("name,time,application,num_replicas,batch_size\na,10,cifar10,2,128\n", {.name = "w"});
  const auto other = read_workload_csv(
      "time, name,num_replicas,application,requested,batch_size\n10.0,a, 2,cifar10,9,128\n", {.name = "w"});
  REQUIRE((own.ok() && other.ok()));
  CHECK(other->jobs[0].spec.name == "a");
  CHECK(other->jobs[0].arrives == own->jobs[0].arrives);
  CHECK(other->jobs[0].spec.elastic.preferred == 2);
  CHECK(other->jobs[0].truth.work_samples == own->jobs[0].truth.work_samples);
}

TEST_CASE("a job that asks for what its profile does not allow gets the nearest that it does, and is counted") {
  const std::string head = "name,time,application,num_replicas,batch_size\n";
  const SimReport clamped = run_of_inputs(pollux(head + "a,0,app,9,32\nb,0,app,1,8\nc,0,app,1,64\n", "1x8"));
  CHECK(clamped.score.completed == 3);
  CHECK(
      clamped.notes ==
      std::vector<std::string>{
          "1 of 3 jobs asks for a number of slots that their profile does not allow; they get the nearest that it does",
          "1 of 3 jobs asks for a batch size that their profile does not allow; they get the nearest that it does"});
  CHECK(run_of_inputs(pollux(head + "a,0,app,4,32\n")).per_job_csv.substr(0, 200) ==
        run_of_inputs(pollux(head + "a,0,app,5,32\n")).per_job_csv.substr(0, 200));

  const std::string jobs = "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n";
  const SimReport largest =
      run_of_inputs(elasticflow(jobs + "0,0,180,m,9000,64,4,100\n"));  // nothing was measured at 4
  CHECK(largest.score.completed == 1);
  CHECK(largest.notes.size() == 1);

  const SimReport leases = run_of_inputs(gavel("3", "0"));
  CHECK(leases.per_job_csv == run_of_inputs(gavel("2", "0")).per_job_csv);
  CHECK(leases.notes.size() == 1);
  CHECK(run_of_inputs(gavel("4", "0")).score.completed == 1);  // 4 is in the table, with no speed
}

}  // namespace tidepool::sim
