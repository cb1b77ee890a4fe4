// What a daemon costs as its queue and its past grow: durable submits per second while 0, 10,000 and 50,000 jobs wait,
// for 8 and for 64 clients, in turns with the same clients at a daemon where none waits. One job holds the only slots,
// so all others wait and are decided about. Then jobs that have ended, 100,000 of them: a page of 500,
// memory and disk of each, and the start after SIGKILL, each beside its goal.
// Submits of 8 clients stand beside those to a slurmrestd of Debian's packages, started by hand in the same run
// (slurm_by_hand): once where all jobs wait, and once where they start on 32 free slots of either; where it is not
// installed that is skipped. The same clients then submit in batches of 100 (jobs:batch), beside the same slurmrestd,
// which has no such request.
// Arguments: how many jobs wait, two figures each; ended=N; slurm=N submits to it, 0 = none; rounds=N of what is
// measured in turns, of which the middle one counts.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/bench_daemon.hpp"
#include "tests/bench/slurm_by_hand.hpp"

namespace {

using namespace tidepool::bench;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kSlots = 4;         // what --dev offers
constexpr int kMeasured = 2'048;  // submits of one figure
constexpr int kBatch = 100;       // jobs of one request to jobs:batch
constexpr int kBatched = 16'000;  // jobs of one figure, in batches
constexpr int kFillers = 64;      // clients that fill the queue up
constexpr int kSlurmSlots = 32;   // processors of the nodes of slurm_by_hand
constexpr int kRounds = 5;        // in turns

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print(const std::string& metric, double value, const char* unit, const char* baseline_name, double baseline) {
  const json line = {{"bench", "scale"},         {"metric", metric},
                     {"value", value},           {"unit", unit},
                     {"baseline", baseline},     {"baseline_name", baseline_name},
                     {"ratio", value / baseline}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// Where a job goes to, and how it is written there.
struct Target {
  unsigned short port = 0;
  std::string token;
  Client::Headers headers;
  std::string path;
  std::string job;
  unsigned stored = 0;  // the status that says so
};

Target target_of(const Daemon& daemon) {
  return {.port = daemon.port(),
          .token = daemon.token(),
          .headers = {},
          .path = "/v1/jobs",
          .job = R"({"run":{"command":["true"],"resize":"restart"},"resources":{"gpus_per_worker":1}})",
          .stored = 201};
}

Target batches_to(const Daemon& daemon) {
  Target target = target_of(daemon);
  json jobs = json::array();
  for (int i = 0; i < kBatch; ++i) jobs.push_back(json::parse(target.job));
  target.path = "/v1/jobs:batch";
  target.job = json{{"jobs", std::move(jobs)}}.dump();
  return target;
}

// `clients` at once, `jobs` submits in all; gives the rate.
double submit(const Target& target, int clients, int jobs) {
  std::atomic<int> left{jobs};
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      Client client(target.port, target.token, target.headers);
      while (left.fetch_sub(1) > 0) {
        if (client.call("POST", target.path, target.job).status != target.stored) ++refused;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const double rate = jobs / seconds_since(start);
  if (refused > 0) throw std::runtime_error(std::to_string(refused) + " submits were refused; the figure is void");
  return rate;
}

// One job that holds every slot and does nothing there.
void occupy(const Daemon& daemon) {
  const json job = {{"name", "holder"},
                    {"run", {{"command", {"sleep", "100000"}}, {"resize", "restart"}}},
                    {"priority", 20},
                    {"preemptible", false},
                    {"resources", {{"gpus_per_worker", 1}}},
                    {"elastic", {{"min", kSlots}, {"max", kSlots}, {"preferred", kSlots}}}};
  Client client(daemon.port(), daemon.token());
  const auto answer = client.call("POST", "/v1/jobs", job.dump());
  if (answer.status != 201) throw std::runtime_error("the holder was refused: " + answer.body);
  const auto start = Clock::now();
  while (seconds_since(start) < 30) {
    const auto seen = json::parse(client.call("GET", "/v1/jobs/job-1").body);
    if (seen.at("state") == "running") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error("the job that is to hold the slots does not run");
}

// Of one daemon, or of several in the same state.
struct Rates {
  std::vector<double> with_8;
  std::vector<double> with_64;
};

void measure(const Daemon& daemon, Rates& rates) {
  rates.with_8.push_back(submit(target_of(daemon), 8, kMeasured));
  rates.with_64.push_back(submit(target_of(daemon), 64, kMeasured));
}

void measure_empty(const std::string& program, Rates& rates) {
  Daemon empty(program, {"--dev"});
  occupy(empty);
  measure(empty, rates);
}

void print(int queue, const Rates& rates, const Rates& none) {
  const std::string suffix = "_" + std::to_string(queue) + "_waiting";
  print("submits_8_clients" + suffix, middle_of(rates.with_8), "1/s", "with_an_empty_queue", middle_of(none.with_8));
  print("submits_64_clients" + suffix, middle_of(rates.with_64), "1/s", "with_an_empty_queue", middle_of(none.with_64));
}

// In turns with a daemon that has just been started. The queue grows by what is measured and is so long in the middle.
void submits_with_a_queue(const std::string& program, int queue, int rounds) {
  Rates none;
  if (queue == 0) {
    for (int round = 0; round < rounds; ++round) measure_empty(program, none);
    return print(queue, none, none);
  }
  Daemon full(program, {"--dev"});
  occupy(full);
  submit(target_of(full), kFillers, std::max(queue - rounds * kMeasured, 1));
  Rates waiting;
  for (int round = 0; round < rounds; ++round) {
    measure_empty(program, none);
    measure(full, waiting);
  }
  print(queue, waiting, none);
}

// `clients` at once, jobs:batch with 100 jobs each; gives the rate of jobs.
double submit_batches(const Daemon& daemon, int clients) {
  return kBatch * submit(batches_to(daemon), clients, kBatched / kBatch);
}

void batches_beside_single_submits(const std::string& program) {
  Daemon daemon(program, {"--dev"});
  occupy(daemon);
  const double single = submit(target_of(daemon), 8, kMeasured);
  print("jobs_in_batches_of_100_8_clients", submit_batches(daemon, 8), "1/s", "single_submits", single);
}

Target target_of(const SlurmByHand& slurm) {
  return {.port = slurm.port(),
          .token = "",
          .headers = {{"X-SLURM-USER-NAME", "root"}, {"X-SLURM-USER-TOKEN", slurm.token()}},
          .path = "/slurm/v0.0.38/job/submit",
          .job = R"({"script":"#!/bin/sh\ntrue\n","job":{"name":"job","nodes":1,"standard_output":"/dev/null",)"
                 R"("environment":{"PATH":"/bin"},"current_working_directory":"/tmp"}})",
          .stored = 200};
}

// Submits a second to slurmrestd; it has ended when ours begin, and so have its jobs.
std::optional<double> slurm_rate(int jobs, const std::string& mode) {
  const auto slurm = SlurmByHand::start(mode);
  if (!slurm) return std::nullopt;
  const Target theirs = target_of(*slurm);
  submit(theirs, 8, jobs / 8);  // what is paid once is paid
  return submit(theirs, 8, jobs);
}

struct Beside {
  std::vector<double> theirs;
  std::vector<double> single;
  std::vector<double> batched;
};

// One round: theirs, then ours. False: there is no slurmrestd.
bool submit_in_turns(const std::string& program, int jobs, const std::string& mode, Beside& rates) {
  const std::optional<double> theirs = slurm_rate(jobs, mode);
  if (!theirs) return false;
  const bool they_run = mode == "run";
  Daemon daemon(program, they_run ? std::vector<std::string>{"--dev", "--local-slots", std::to_string(kSlurmSlots)}
                                  : std::vector<std::string>{"--dev"});
  if (!they_run) occupy(daemon);
  submit(target_of(daemon), 8, jobs / 8);
  rates.theirs.push_back(*theirs);
  rates.single.push_back(submit(target_of(daemon), 8, jobs));
  rates.batched.push_back(submit_batches(daemon, 8));
  return true;
}

// slurmrestd's rate is up to five times another in runs a minute apart, so each is the middle one of several.
void submits_beside_slurm(const std::string& program, int jobs, const std::string& mode, int rounds) {
  Beside rates;
  for (int round = 0; round < rounds; ++round) {
    if (submit_in_turns(program, jobs, mode, rates)) continue;
    std::fprintf(stderr,
                 "scale_bench: submits beside slurmrestd: skipped, this is not root or Debian's packages slurmctld, "
                 "slurmd, slurm-client, slurmrestd, slurm-wlm-jwt-plugin and munge are not all installed\n");
    return;
  }
  const std::string suffix = mode == "run" ? "_while_jobs_run" : "";
  const double theirs = middle_of(rates.theirs);
  print("submits_8_clients_vs_slurmrestd" + suffix, middle_of(rates.single), "1/s", "slurmrestd", theirs);
  print("jobs_in_batches_of_100_8_clients_vs_slurmrestd" + suffix, middle_of(rates.batched), "1/s", "slurmrestd",
        theirs);
}

// Submits and cancels so many.
void end_jobs(const Daemon& daemon, int jobs) {
  const std::string job = R"({"run":{"command":["true"]},"resources":{"gpus_per_worker":1}})";
  std::atomic<int> left{jobs};
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kFillers; ++i) {
    threads.emplace_back([&] {
      Client client(daemon.port(), daemon.token());
      while (left.fetch_sub(1) > 0) {
        const auto stored = client.call("POST", "/v1/jobs", job);
        const std::string id = stored.status == 201 ? json::parse(stored.body).at("id") : "none";
        if (client.call("DELETE", "/v1/jobs/" + id).status != 200) ++refused;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (refused > 0) throw std::runtime_error(std::to_string(refused) + " jobs did not end; the figures are void");
}

double resident_bytes(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  double all = 0;
  double resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

double bytes_in(const std::filesystem::path& folder) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  }
  return bytes;
}

double page_ms(const Daemon& daemon, int pages) {
  Client client(daemon.port(), daemon.token());
  std::vector<double> times;
  std::string cursor;
  for (int i = 0; i < pages; ++i) {
    const auto start = Clock::now();
    const auto page = client.call("GET", "/v1/jobs?limit=500" + cursor);
    times.push_back(seconds_since(start) * 1e3);
    const auto next = json::parse(page.body).at("next_cursor");
    cursor = next.is_null() ? "" : "&cursor=" + next.get<std::string>();
  }
  return middle_of(std::move(times));
}

// Of so many jobs as a table.
double listing_s(const std::string& program, const Daemon& daemon, int jobs) {
  const std::string schedctl = std::filesystem::path(program).parent_path() / "schedctl";
  const std::string command = schedctl + " --url http://127.0.0.1:" + std::to_string(daemon.port()) + " --token " +
                              daemon.token() + " ls --limit " + std::to_string(jobs) + " >/dev/null";
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    if (std::system(command.c_str()) != 0) throw std::runtime_error("schedctl ls failed");  // NOLINT: one thread
    times.push_back(seconds_since(start));
  }
  return middle_of(std::move(times));
}

void past(const std::string& program, int jobs) {
  Daemon daemon(program);
  end_jobs(daemon, 1'000);  // so that what is paid once is paid
  const double memory = resident_bytes(daemon.pid());
  const double disk = bytes_in(daemon.state_dir());
  end_jobs(daemon, jobs);
  const std::string suffix = "_" + std::to_string(jobs) + "_ended";
  print("memory_of_a_job" + suffix, (resident_bytes(daemon.pid()) - memory) / jobs, "B", "goal", 1'024);
  print("disk_of_a_job" + suffix, (bytes_in(daemon.state_dir()) - disk) / jobs, "B", "goal", 4'096);
  print("page_of_500_p50" + suffix, page_ms(daemon, 21), "ms", "goal", 10);
  const int listed = std::min(jobs, 10'000);
  print("schedctl_ls_" + std::to_string(listed) + suffix, listing_s(program, daemon, listed), "s", "goal", 0.3);
  const auto start = Clock::now();
  daemon.kill_and_restart();
  print("start_after_sigkill" + suffix, seconds_since(start), "s", "goal", 3);
}

}  // namespace

int main(int count, char** arguments) {
  const char* folder = std::getenv("TIDEPOOL_BIN_DIR");
  const std::string program = std::string(folder == nullptr ? "build/release/bin" : folder) + "/schedulerd";
  try {
    std::vector<int> queues;
    int ended = 100'000;
    int slurm = 2'000;
    int rounds = kRounds;
    for (int i = 1; i < count; ++i) {
      const std::string word = arguments[i];
      if (word.starts_with("ended=")) {
        ended = std::stoi(word.substr(6));
      } else if (word.starts_with("slurm=")) {
        slurm = std::stoi(word.substr(6));
      } else if (word.starts_with("rounds=")) {
        rounds = std::stoi(word.substr(7));
      } else {
        queues.push_back(std::stoi(word));
      }
    }
    if (queues.empty()) queues = {0, 10'000, 50'000};
    for (const int queue : queues) submits_with_a_queue(program, queue, rounds);
    batches_beside_single_submits(program);
    for (const char* mode : {"wait", "run"}) {
      if (slurm > 0) submits_beside_slurm(program, slurm, mode, rounds);
    }
    if (ended > 0) past(program, ended);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scale_bench: %s\n", error.what());
    return 1;
  }
}
