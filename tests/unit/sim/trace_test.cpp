#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "studies/sim_run.hpp"
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"
#include "studies/traces/trace_stats.hpp"
#include "studies/traces/trace_workload.hpp"
#include "tests/support/seeds.hpp"

using namespace tidepool;
using namespace tidepool::sim;

namespace {

TraceText text_of(std::string_view text, bool skip_bad = false) {
  return {.text = text, .file = "file.csv", .skip_bad = skip_bad};
}

// A line of a journal about job-1, at a minute of the year's first hour.
std::string event(const char* minute, const char* type, const char* data) {
  return std::string(R"json({"at": "2026-01-01T00:)json") + minute + R"json(:00Z", "type": ")json" + type +
         R"json(", "job": "job-1", "data": )json" + data + "}\n";
}

struct Sample {
  const char* format;
  const char* text;
  TraceJob job;
};
const Sample kSamples[] = {
    {"philly",
     "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,8,528.0,11cb48\n",
     {.name = "philly-1", .tenant = "11cb48", .gpus = 8, .duration_s = 66}},
    {"philly",
     R"([{"status": "Pass", "vc": "v", "jobid": "a", "user": "u", "submitted_time": "2017-10-09 07:00:00", "attempts":
           [{"start_time": "2017-10-09 07:01:00", "end_time": "2017-10-09 07:02:00",
             "detail": [{"ip": "m", "gpus": ["gpu0", "gpu1"]}]}]}])",
     {.name = "a", .tenant = "v", .user = "u", .gpus = 2, .duration_s = 60, .status = TraceStatus::kSucceeded}},
    {"helios",
     "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
     "1,u,vc,0,1,1,COMPLETED,2020-06-09 18:41:01,x,x,5,0\n"
     "2,u,vc,4,16,1,TIMEOUT,2020-06-09 18:41:27,x,x,249,0\n",
     {.name = "2", .tenant = "vc", .user = "u", .gpus = 4, .duration_s = 249, .status = TraceStatus::kFailed}},
    {"pai",
     "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
     "j,worker,3,Terminated,100.0,160.0,600.0,29.0,50.0,T4\n",
     {.name = "j/worker",
      .gpus = 3,
      .gpu_share = 0.5,
      .gpu_type = "T4",
      .duration_s = 60,
      .status = TraceStatus::kSucceeded}},
    {"openb",
     "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
     "p,6000,12288,1,460,V100M16|V100M32,LS,Running,10,90,30\n",
     {.name = "p",
      .tenant = "LS",
      .gpus = 1,
      .gpu_share = 0.46,
      .gpu_type = "V100M16|V100M32",
      .duration_s = 60,
      .status = TraceStatus::kRunning}},
    {"elasticflow",
     "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
     "a,100,45775,resnet50,1100,256,64,2429\n",
     {.name = "a",
      .gpus = 64,
      .duration_s = 2429,
      .deadline_s = 1000,
      .application = "resnet50",
      .batch = 256,
      .steps = 45775}},
    {"tiresias",
     "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,606,vgg19,164,30\n",
     {.name = "0", .gpus = 1, .duration_s = 164, .application = "vgg19", .steps = 606}},
    {"gavel",
     "LM (batch size 5)\tpython\tdir\t--steps\t1\t240\t2\t1\t-1.000000\t50\n",
     {.name = "job-0", .gpus = 2, .duration_s = 60, .application = "LM (batch size 5)", .steps = 240}},
    {"sacct",
     "JobID|Submit|Start|End|State|AllocTRES|User|Account\n"
     "7|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:02:00|CANCELLED by 5|"
     "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,node=1|u|acc\n"
     "7.batch|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:02:00|COMPLETED|cpu=8||acc\n",
     {.name = "7",
      .tenant = "acc",
      .user = "u",
      .gpus = 4,
      .gpu_type = "a100",
      .duration_s = 60,
      .status = TraceStatus::kCancelled}},
    {"journal",
     R"({"at":"2026-11-20T21:53:24.000Z","type":"job.submitted","job":"job-1","tenant":"demo","data":{"name":"lm","preferred":2}})"
     "\n"
     R"({"at":"2026-11-20T21:53:30.000Z","type":"generation.switched","job":"job-1","data":{"to_size":2}})"
     "\n"
     R"({"at":"2026-11-20T21:53:40.000Z","type":"generation.switched","job":"job-1","data":{"to_size":4}})"
     "\n"
     R"({"at":"2026-11-20T21:53:50.000Z","type":"job.finished","job":"job-1","data":{"state":"succeeded"}})"
     "\n",
     {.name = "job-1",
      .tenant = "demo",
      .gpus = 2,
      .duration_s = 30,
      .status = TraceStatus::kSucceeded,
      .application = "lm"}},
};

}  // namespace

TEST_CASE("a time of the calendar becomes seconds since 1970, and what is no time becomes nothing") {
  CHECK(seconds_of("1970-01-01 00:00:00") == 0);
  CHECK(seconds_of("2017-10-09 07:01:55") == 1507532515);
  CHECK(seconds_of("2020-02-29T00:00:00Z") == 1582934400);
  CHECK(seconds_of("2026-11-20T21:53:31.500Z") == 1795211611.5);
  CHECK(seconds_of("12.5") == 12.5);
  CHECK(seconds_of("2017-10-09 07:01:55 PDT") == 1507532515 + 7 * 3'600);
  CHECK(seconds_of("2017-12-09 07:01:55 PST") == *seconds_of("2017-12-09T15:01:55Z"));
  CHECK(seconds_of("2017-10-09T09:01:55+02:00") == 1507532515);
  CHECK(seconds_of("2017-10-09T01:31:55-0530") == 1507532515);
  for (const char* wrong :
       {"", "2019-02-29 00:00:00", "2017-04-31 00:00:00", "2017-10-09T09:01:55+2", "2017-10-09T09:01:55+25:00",
        "2017-10-09 07:01:55 CEST", "yesterday", "2017-13-09 07:01:55", "2017-10-09 24:01:55", "2017-10-09", "nan"}) {
    CHECK_FALSE(seconds_of(wrong));
  }
}

TEST_CASE("a trace that was written and read again is written as the same text") {
  test::for_each_seed("trace round trip", 20, [](std::uint64_t, Rng& rng) {
    Trace trace;
    for (int i = 0; i < 50; ++i) {
      TraceJob& job = trace.jobs.emplace_back();
      job.name = "job-" + std::to_string(i);
      job.tenant = rng.chance(0.5) ? "a" : "b c";
      job.user = rng.chance(0.5) ? "u" : "";
      job.submit_s = 1.5e9 + 1e6 * rng.uniform();
      job.gpus = static_cast<int>(rng.between(1, 128));
      job.gpu_share = rng.chance(0.3) ? 0.001 + 0.999 * rng.uniform() : 1;
      job.duration_s = rng.exponential(5'000) + 1e-3;
      if (rng.chance(0.5)) job.deadline_s = job.submit_s + 1e5 * rng.uniform();
      job.status = rng.chance(0.5) ? TraceStatus::kFailed : TraceStatus::kSucceeded;
      if (rng.chance(0.5)) job.steps = rng.between(1, 1'000'000);
    }
    REQUIRE(settle(trace, "made").ok());
    CHECK(trace.jobs.front().submit_s == 0);
    const std::string text = write_trace_csv(trace.jobs);
    const auto again = read_trace_csv(text_of(text));
    REQUIRE(again.ok());
    CHECK(again->jobs == trace.jobs);
    CHECK(write_trace_csv(again->jobs) == text);
  });
}

TEST_CASE("columns of a trace come in any order, and what is not given has a default") {
  const auto trace = read_trace_csv(text_of("gpus,duration_s,submit_s\n4,100,7\n1,2.5,3\n"));
  REQUIRE(trace.ok());
  REQUIRE(trace->jobs.size() == 2);
  CHECK(trace->jobs[0].name == "job-2");  // submitted first
  CHECK(trace->jobs[1].submit_s == 4);
  CHECK(trace->jobs[1].gpus == 4);
  CHECK(trace->jobs[1].tenant == "default");
}

TEST_CASE("the first line of a trace is known by its columns, with a byte order mark and blanks, in any order") {
  CHECK(is_trace_header("\xEF\xBB\xBFname, gpus ,submit_s,duration_s"));
  CHECK_FALSE(is_trace_header("submit_s,gpus"));
}

TEST_CASE("a bad line is an error that names file, line and what it should be") {
  const std::string columns =
      "; a trace needs submit_s, gpus and duration_s, and may have name, tenant, user, gpu_share, gpu_type, "
      "deadline_s, status, application, batch and steps";
  const std::pair<const char*, std::string> wrong[] = {
      {"submit_s,gpus,duration_s\n1,0,5\n",
       "file.csv line 2: gpus is \"0\"; it should be a whole number from 1 to 100000"},
      {"submit_s,gpus,duration_s\n1,2,0\n", "file.csv line 2: it should have run above 0 s, at most 10 years"},
      {"submit_s,gpus,duration_s\n1,2\n", "file.csv line 2: 2 cells, there should be 3"},
      {"name,submit_s,gpus,duration_s\na,1,2,3\na,1,2,3\n", "file.csv line 3: the name \"a\" is used twice"},
      {"name,submit_s,gpus,duration_s\n\"a\",1,2,3\n",
       "file.csv line 2: name is \"\"a\"\"; it should be written without quotes"},
      {"submit_s,gpus\n", "file.csv: the first line names no column \"duration_s\"" + columns},
      {"gpus\n", "file.csv: the first line names no column \"submit_s\" and \"duration_s\"" + columns},
      {"submit_s,gpus,duraton_s\n",
       "file.csv: the first line names no column \"duration_s\"; is it \"duraton_s\"?" + columns},
      {"submit_s,gpus,gpus,duration_s\n1,1,1,1\n", "file.csv: the column \"gpus\" stands twice"},
      {"", "file.csv is empty"},
      {"submit_s,gpu,gpus,duration_s\n1,1,1,1\n",
       "file.csv: the column \"gpu\" is none of a trace; did you mean \"gpus\"?"},
      {"submit_s,gpus,duration_s\n", "file.csv holds no job that uses a GPU"},
  };
  for (const auto& [text, message] : wrong) {
    const auto trace = read_trace_csv(text_of(text));
    REQUIRE_FALSE(trace.ok());
    CHECK(trace.error().message == message);
  }
}

TEST_CASE("bad lines are skipped and counted where that is asked for") {
  const auto trace = read_trace_csv(text_of("submit_s,gpus,duration_s\n1,x,5\n1,2,5\n2,2,-1\n", true));
  REQUIRE(trace.ok());
  CHECK(trace->jobs.size() == 1);
  CHECK(trace->bad_count == 2);
  REQUIRE(trace->bad_lines.size() == 2);
  CHECK(trace->bad_lines[0].starts_with("file.csv line 2: gpus is \"x\""));
}

TEST_CASE("every format in the table reads what its scheduler writes") {
  const std::string speeds = R"json({"v100": {"('LM (batch size 5)', 2)": {"null": 4.0}}})json";
  for (const Sample& sample : kSamples) {
    CAPTURE(sample.format);
    TraceText input = text_of(sample.text);
    input.speeds = speeds;
    const auto trace = find_trace_format(sample.format)->read(input);
    if (!trace) FAIL(trace.error().message);
    REQUIRE(trace->jobs.size() == 1);
    CHECK(write_trace_csv(trace->jobs) == write_trace_csv({sample.job}));
  }
}

TEST_CASE("what is read from JSON obeys the laws of a trace and can be written as one") {
  const std::string attempts =
      R"json("attempts": [{"start_time": "2017-10-09 07:02:00", "end_time": "2017-10-09 08:02:00",
              "detail": [{"gpus": ["a", "b"]}]}])json";
  const std::string job = R"json({"jobid": "a,b", "vc": "v\"c", "user": "line\nend", "status": "Pass",
                                  "submitted_time": "2017-10-09 07:01:55", )json" +
                          attempts + "}";
  const auto trace = import_philly(text_of("\n[" + job + "]"));
  REQUIRE(trace.ok());
  CHECK(trace->jobs[0].name == "a_b");
  CHECK(trace->jobs[0].tenant == "v_c");
  CHECK(trace->jobs[0].user == "line_end");
  CHECK(read_trace_csv(text_of(write_trace_csv(trace->jobs))).ok());
  const auto twice = import_philly(text_of("[" + job + "," + job + "]"));
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().message == "file.csv job 2: the name \"a_b\" is used twice");
  const auto no_job = import_philly(text_of("[5]", true));
  CHECK_FALSE(no_job.ok());
  CHECK(import_philly(text_of("[" + job + ",")).error().message ==
        "file.csv begins like a JSON array of jobs and is none");
}

TEST_CASE("GPUs of several types in Slurm's accounting are added up where their total is not counted") {
  const auto read = [](const std::string& resources) {
    return import_sacct(text_of(("JobID|Submit|Start|End|State|AllocTRES\n7|2024-01-01T00:00:00|2024-01-01T00:01:00|"
                                 "2024-01-01T00:02:00|COMPLETED|" +
                                 resources + "\n")
                                    .c_str()));
  };
  const auto typed = read("gres/gpu:a100=4,gres/gpu:v100=2");
  REQUIRE(typed.ok());
  CHECK(typed->jobs[0].gpus == 6);
  CHECK(typed->jobs[0].gpu_type.empty());
  CHECK(read("gres/gpu=6,gres/gpu:a100=4,gres/gpu:v100=2")->jobs[0].gpus == 6);
}

TEST_CASE("a job of philly that was tried several times has the size of its largest attempt") {
  const auto attempt = [](const char* from, const char* to, const char* gpus) {
    return std::string(R"json({"start_time": "2017-10-09 )json") + from + R"json(", "end_time": "2017-10-09 )json" +
           to + R"json(", "detail": [{"gpus": )json" + gpus + "}]}";
  };
  const auto trace =
      import_philly(text_of(R"json([{"jobid": "a", "submitted_time": "2017-10-09 07:00:00", "attempts": [)json" +
                            attempt("07:00:00", "07:01:00", R"json(["a", "b", "c"])json") + "," +
                            attempt("07:05:00", "07:05:30", R"json(["a"])json") + "]}]"));
  REQUIRE(trace.ok());
  CHECK(trace->jobs[0].gpus == 3);
  CHECK(trace->jobs[0].duration_s == 90);
}

TEST_CASE("a deadline of gavel is a multiple of the duration, counted from the arrival") {
  TraceText input = text_of(
      "LM (batch size 5)\tc\tf\t-n\t0\t40\t2\t1\t-1\t0\n"
      "LM (batch size 5)\tc\tf\t-n\t0\t40\t2\t1\t1.5\t100\n");
  input.speeds = R"json({"v100": {"('LM (batch size 5)', 2)": {"null": 4.0}}})json";
  const auto trace = import_gavel(input);
  REQUIRE(trace.ok());
  CHECK_FALSE(trace->jobs[0].deadline_s);
  CHECK(trace->jobs[1].deadline_s == 115);
}

TEST_CASE("a suspended job of a journal holds nothing until it trains again") {
  for (const char* pause : {"job.suspended", "job.parked"}) {
    const auto trace = import_journal(
        text_of(event("10", "job.submitted", "{}") + event("20", "generation.switched", R"json({"to_size": 1})json") +
                event("25", pause, "{}") + event("40", "generation.switched", R"json({"to_size": 1})json") +
                event("41", "job.finished", R"json({"state": "succeeded"})json")));
    REQUIRE(trace.ok());
    CHECK(trace->jobs[0].duration_s == 6 * 60);
  }
}

TEST_CASE("the percentiles of durations are nearest ranks") {
  std::vector<TraceJob> jobs;
  for (int i = 1; i <= 200; ++i) jobs.push_back({.name = std::to_string(i), .duration_s = double(201 - i)});
  const TraceStats stats = stats_of(jobs);
  CHECK(stats.duration_p50_s == 100);
  CHECK(stats.duration_p90_s == 180);
  CHECK(stats.duration_p99_s == 198);
  CHECK(stats.duration_max_s == 200);
  CHECK(stats.duration_mean_s == Approx(100.5));
}

TEST_CASE("a duration on the border of two classes counts in the longer one") {
  const TraceStats stats = stats_of({{.name = "a", .duration_s = 60}, {.name = "b", .duration_s = 59.9}});
  CHECK(stats.by_duration[0].share.jobs == 1);
  CHECK(stats.by_duration[1].share.jobs == 1);
}

TEST_CASE("a journal whose clock was set back counts no time twice or below nothing") {
  const auto trace = import_journal(text_of(event("10", "job.submitted", R"json({"preferred": 1})json") +
                                            event("20", "generation.switched", R"json({"to_size": 1})json") +
                                            event("15", "generation.switched", R"json({"to_size": 1})json") +
                                            event("16", "job.finished", R"json({"state": "succeeded"})json")));
  REQUIRE(trace.ok());
  CHECK(trace->jobs[0].duration_s == 60);
  const auto wrong = import_journal(text_of("{}\n"));
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message == "file.csv line 1: an event has a time `at` and a `type`");
}

TEST_CASE("an unknown format is answered with the known ones") {
  const auto format = find_trace_format("slurm");
  REQUIRE_FALSE(format.ok());
  CHECK(format.error().message.find("sacct") != std::string::npos);
}

TEST_CASE("the figures of a trace add up") {
  const auto trace = read_trace_csv(
      text_of("submit_s,gpus,gpu_share,duration_s,tenant\n0,1,0.5,3600,a\n1800,8,1,7200,a\n7200,1,1,30,b\n"));
  REQUIRE(trace.ok());
  const TraceStats stats = stats_of(trace->jobs);
  CHECK(stats.jobs == 3);
  CHECK(stats.tenants == 2);
  CHECK(stats.span_s == 7200);
  CHECK(stats.gpu_hours == Approx(0.5 + 16 + 30.0 / 3600));
  CHECK(stats.arrivals_peak == 2);
  CHECK(stats.arrivals_per_hour == Approx(1.5));
  CHECK(stats.duration_p50_s == 3600);
  CHECK(stats.by_gpus.at(1).jobs == 2);
  std::int64_t in_buckets = 0;
  for (const auto& bucket : stats.by_duration) in_buckets += bucket.share.jobs;
  CHECK(in_buckets == 3);
}

TEST_CASE("a rigid job that never waits takes its recorded duration") {
  SimOptions options{.workload = "t.csv", .cluster = "2x8", .policy = "fifo"};
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,16,1000\nb,2000,3,0.5\nc,2100,1,90000\n";
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  REQUIRE(report->rows.size() == 3);
  const double expected[] = {1000, 0.5, 90'000};
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    REQUIRE(report->rows[i].finished_s);
    CHECK(*report->rows[i].finished_s - report->rows[i].submitted_s == Approx(expected[i]).margin(0.1));
    REQUIRE_FALSE(report->rows[i].held.empty());
    CHECK(report->rows[i].held.back().slots == 0);
  }
  CHECK(report->rows[0].held.front().slots == 16);
}

TEST_CASE("a recorded job may be elastic: at the size it asked for it takes its time, at others as the curve says") {
  const auto trace = read_trace_csv(text_of("name,submit_s,gpus,duration_s\nsmall,0,2,1000\nlarge,5,12,600\n"));
  REQUIRE(trace.ok());
  const TraceRules rules{.slots_per_node = 8, .elastic_max = 8, .sigma = 0.1, .kappa = 0.01};
  const Workload workload = workload_of(*trace, "w", rules);
  REQUIRE(workload.jobs.size() == 2);
  const std::pair<int, int> sizes[] = {{2, 8}, {12, 12}};  // one that asked for more than all may have keeps that
  for (std::size_t i = 0; i < 2; ++i) {
    const SimJob& job = workload.jobs[i];
    CAPTURE(job.spec.name);
    CHECK(job.spec.gpus_per_worker == 1);
    CHECK(job.spec.elastic.min == 1);
    CHECK(job.spec.elastic.preferred == sizes[i].first);
    CHECK(job.spec.elastic.max == sizes[i].second);
    CHECK(job.spec.elastic.sizes.front() == 1);
    CHECK(job.spec.elastic.sizes.back() == sizes[i].second);
    const double asked = job.truth.curve.at(sizes[i].first);
    CHECK(static_cast<double>(job.truth.work_samples) / asked == Approx(trace->jobs[i].duration_s));
    // The Universal Scalability Law with the rules' coefficients, whatever the job's own speed is.
    const auto law = [](double n) { return n / (1 + 0.1 * (n - 1) + 0.01 * n * (n - 1)); };
    CHECK(job.truth.curve.at(4) / asked == Approx(law(4) / law(sizes[i].first)));
  }
  CHECK(workload.jobs[1].arrives == Duration::seconds(5));
}

TEST_CASE("an elastic job of a recorded trace uses what is free, and a rigid one does not") {
  SimOptions options{.workload = "t.csv", .cluster = "1x8", .policy = "autoscaling_engine"};
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,2,4000\n";
  const auto rigid = run(options);
  if (!rigid) FAIL(rigid.error().message);
  options.elastic_max = 8;
  options.sigma = 0;
  options.kappa = 0;
  const auto elastic = run(options);
  if (!elastic) FAIL(elastic.error().message);
  CHECK(*rigid->rows[0].finished_s == Approx(4000).margin(0.1));
  CHECK(*elastic->rows[0].finished_s < 3000);
  int most = 0;
  for (const auto& held : elastic->rows[0].held) most = std::max(most, held.slots);
  CHECK(most > 2);
  CHECK(most <= 8);
}

TEST_CASE("a journal of an elastic job is one of its preferred size for the worker seconds that it trained") {
  // 2 workers for 4 minutes, 5 for 2, 4 after a death for 1, and 3 for 3: 8 + 10 + 4 + 9 = 31 worker minutes.
  const auto switched = [](const char* minute, int size) {
    return event(minute, "generation.switched", ("{\"to_size\": " + std::to_string(size) + "}").c_str());
  };
  const auto trace =
      import_journal(text_of(event("10", "job.submitted", R"json({"preferred": 2, "name": "lm"})json") +
                             switched("12", 2) + event("13", "job.progressed", R"json({"size": 2, "step": 9})json") +
                             switched("16", 5) + event("18", "worker.lost", R"json({"worker": "w-3"})json") +
                             switched("18", 4) + event("19", "job.resizing", R"json({"from": 4, "to": 3})json") +
                             switched("19", 3) + event("22", "job.finished", R"json({"state": "cancelled"})json")));
  REQUIRE(trace.ok());
  REQUIRE(trace->jobs.size() == 1);
  CHECK(trace->jobs[0].gpus == 2);
  CHECK(trace->jobs[0].duration_s == Approx(31 * 60 / 2.0));
  CHECK(trace->jobs[0].status == TraceStatus::kCancelled);
}

TEST_CASE("what never trained, or was submitted before the journal began, is no job of it") {
  const auto trace = import_journal(
      text_of(event("05", "generation.switched", R"json({"to_size": 2})json") +  // of a job from before
              event("10", "job.submitted", "{}") + event("20", "job.finished", R"json({"state": "failed"})json")));
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message == "file.csv holds no job that uses a GPU");
}

TEST_CASE("a job of which a journal has only the end is counted as left out") {
  const auto trace = import_journal(
      text_of(R"({"at":"2026-01-01T00:00:01Z","type":"job.finished","job":"job-0","data":{"state":"succeeded"}})"
              "\n" +
              event("10", "job.submitted", "{}") + event("11", "generation.switched", R"json({"to_size": 2})json") +
              event("20", "job.finished", R"json({"state": "failed"})json")));
  REQUIRE(trace.ok());
  CHECK(trace->jobs.size() == 1);
  CHECK(trace->left_out.at("was submitted before the events begin") == 1);
}

TEST_CASE("Alibaba's table of tasks is read as it is published, without a line of names") {
  const std::string row = "j1,worker,2.0,Terminated,100.0,160.0,600.0,29.3,50.0,V100\n";
  const auto bare = import_pai(text_of(row));
  if (!bare) FAIL(bare.error().message);
  const std::string names =
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n";
  const auto named = import_pai(text_of(names + row));
  REQUIRE(named.ok());
  CHECK(bare->jobs == named->jobs);
  CHECK(bare->jobs[0].gpus == 2);
  CHECK(bare->jobs[0].gpu_share == 0.5);
  CHECK(import_pai(text_of("j1,worker,2.0\n")).error().message == "file.csv line 1: 3 cells, there should be 10");
}

TEST_CASE("a recorded deadline is one of the run, and is judged") {
  SimOptions options{.workload = "t.csv", .cluster = "1x4", .policy = "fifo"};
  options.workload_csv =
      "name,submit_s,gpus,duration_s,deadline_s\na,0,4,1000,2000\nb,1,4,1000,1500\nc,2,4,10,1\nd,3,4,10,\n";
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  CHECK(report->score.deadlines == 3);
  CHECK(report->score.deadlines_met == 1);
  CHECK(report->rows[0].deadline_s == 2000.0);
  CHECK_FALSE(report->rows[3].deadline_s);
}

TEST_CASE("a job that asks for a type of GPU is on such ones, and what it cannot have is said") {
  SimOptions options{.workload = "t.csv", .cluster = "1x4:v100,1x2:t4", .policy = "fifo"};
  options.type_speeds = {{"t4", 0.5}};
  options.workload_csv =
      "name,submit_s,gpus,gpu_share,gpu_type,duration_s\n"
      "a,0,2,1,t4,100\nb,1,2,1,t4|k80,100\nc,2,1,0.5,k80,10\n";
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  CHECK(*report->rows[0].finished_s == Approx(200).margin(2));  // though four faster ones are free
  CHECK(*report->rows[1].started_s >= *report->rows[0].finished_s);
  CHECK(report->notes ==
        std::vector<std::string>{
            "1 of 3 jobs ask for a part of a GPU; they are given whole ones",
            "1 of 3 jobs ask for a type of GPU that no part of --cluster is named by; they run anywhere"});
  options.workload_csv = "name,submit_s,gpus,gpu_type,duration_s\na,0,4,t4,100\n";
  CHECK(run(options).error().message ==
        "the job a needs 4 slots of the type t4, the cluster has 2; give a larger --cluster");
}

TEST_CASE("a job that fits on the slots of two types together and on those of none is refused") {
  SimOptions options{.workload = "t.csv", .cluster = "1x4:v100,1x2:t4,1x2:k80", .policy = "fifo"};
  options.workload_csv = "name,submit_s,gpus,gpu_type,duration_s\na,0,4,t4|k80,100\n";
  CHECK(run(options).error().message ==
        "the job a needs 4 slots of one of the types t4 and k80, the cluster has 2; give a larger --cluster");
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,6,100\n";
  CHECK(run(options).error().message ==
        "the job a needs 6 slots of one type, the cluster has 4; give a larger --cluster");
  // On the larger of two types it runs.
  options.workload_csv = "name,submit_s,gpus,gpu_type,duration_s\na,0,4,t4|v100,100\n";
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  CHECK(report->score.completed == 1);
}

TEST_CASE("fairness counts a job alone on the fastest type that it may be on") {
  SimOptions options{.workload = "t.csv", .cluster = "1x1:v100,1x1:k80", .policy = "fifo"};
  options.type_speeds = {{"v100", 2}, {"k80", 0.5}};
  options.workload_csv = "name,submit_s,gpus,gpu_type,duration_s\na,0,1,k80,1000\nb,5000,1,v100,1000\n";
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  // Each runs alone and at once, so that it is no worse off than on a share of its own.
  REQUIRE(report->fairness.size() == 2);
  CHECK(report->fairness[0] == Approx(1).epsilon(0.02));
  CHECK(report->fairness[1] == Approx(1).epsilon(0.02));
}

TEST_CASE("an imported trace is told from what the rules of others replay") {
  SimOptions options{.workload = "t.csv", .policy = "fifo", .simulator = "pollux"};
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,1,10\n";
  CHECK(run(options).error().message.starts_with(
      "t.csv is a trace, which knows no speeds: run it under --simulator live"));
}

TEST_CASE("a job may run for longer than a run lasts by default") {
  SimOptions options{.workload = "t.csv", .cluster = "1x1", .policy = "fifo"};
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,1,20000000\nb,0,1,10\n";
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  CHECK(report->score.completed == 2);
  CHECK(report->notes.empty());
}

TEST_CASE("faults go on while jobs run, not only while they arrive") {
  SimOptions options{.workload = "t.csv", .cluster = "4x4", .policy = "fifo"};
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,16,36000\n";
  const auto calm = run(options);
  if (!calm) FAIL(calm.error().message);
  CHECK(calm->score.faults == 0);
  CHECK_FALSE(to_json(calm->score).contains("faults"));
  options.faults.worker_death_every = Duration::seconds(3'600);
  const auto struck = run(options);
  if (!struck) FAIL(struck.error().message);
  CHECK(struck->score.faults > 3);
  CHECK(struck->score.completed == 1);
}

TEST_CASE("slots of a slower type take as much longer") {
  SimOptions options{.workload = "t.csv", .cluster = "1x1:k80", .policy = "fifo"};
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,1,1000\n";
  options.type_speeds = {{"k80", 0.5}};
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  CHECK(*report->rows[0].finished_s == Approx(2000).margin(0.1));
  options.type_speeds = {{"k80", 0}};
  CHECK(run(options).error().message == "the speed of k80 must be above 0");
  options.type_speeds = {{"v100", 0.5}};
  CHECK(run(options).error().message == "the cluster 1x1:k80 has no slot type \"v100\"");
}

TEST_CASE("slots of a faster type take as much less") {
  SimOptions options{.workload = "t.csv", .cluster = "1x2:h100", .policy = "fifo"};
  options.workload_csv = "name,submit_s,gpus,duration_s\na,0,2,1000\n";
  options.type_speeds = {{"h100", 4}};
  const auto fast = run(options);
  if (!fast) FAIL(fast.error().message);
  CHECK(*fast->rows[0].finished_s == Approx(250).margin(0.1));
  CHECK(fast->score.gpu_hours == Approx(500.0 / 3'600).epsilon(0.01));
}

TEST_CASE("a job that fits no cluster is refused and does not wait for ever") {
  SimOptions options{.workload = "t.csv", .cluster = "2x8", .policy = "fifo"};
  options.workload_csv = "name,submit_s,gpus,duration_s\nbig,0,17,1000\n";
  CHECK(run(options).error().message == "the job big needs 17 slots, the cluster has 16; give a larger --cluster");
}

TEST_CASE("jobs outlive machines that are taken back, and the same seed takes the same ones") {
  SimOptions options{.workload = "generated", .generated_jobs = 30, .cluster = "8x4", .policy = "fifo"};
  options.faults.node_reclaim_every = Duration::seconds(900);
  const auto once = run(options);
  const auto again = run(options);
  if (!once) FAIL(once.error().message);
  CHECK(once->score.completed == 30);
  CHECK(once->score.digest == again->score.digest);
  options.faults = {};
  CHECK(run(options)->score.digest != once->score.digest);
}
