// Jobs of many tenants through the whole daemon: real HTTP, each submit durable before it is answered, a real journal
// and the real worker protocol; nodes are played (played_nodes.hpp), so that no process stands behind a worker. The
// shapes are those of the performance tests of Kueue's scheduler: cohorts are inner tenants, their cluster queues
// leaves with guarantees and borrowing limits; classes of jobs differ in size, priority, run time and the gap between
// submits. `value` is the time from the first submit to the end of the last job; `baseline` what no scheduler can
// undercut: the gaps and the run time of the last job, or all run times if no slot is ever free. Arguments: names of
// shapes; none = all. "baseline/10": with a tenth of the jobs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/bench/bench_daemon.hpp"
#include "tests/bench/played_nodes.hpp"

namespace {

using namespace tidepool::bench;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct JobClass {
  std::string name;
  int count;   // in each queue
  int gap_ms;  // between its submits
  int run_ms;
  int priority;
  int workers;
  int slots;  // of each worker
};

struct Scenario {
  std::string name;
  int cohorts;
  int queues;     // of each
  int guarantee;  // of each queue
  int borrow;
  PlayedNodes::Shape nodes;
  int batch;                // jobs of a request; 1 = single submits
  std::string min_runtime;  // before a job may be preempted; empty = at any time
  std::vector<JobClass> classes;
};

Scenario baseline(std::string name, std::string min_runtime) {
  return {.name = std::move(name),
          .cohorts = 5,
          .queues = 6,
          .guarantee = 20,
          .borrow = 100,
          .nodes = {.nodes = 6, .slots = 100},
          .batch = 1,
          .min_runtime = std::move(min_runtime),
          .classes = {{"small", 350, 100, 200, 50, 1, 1},
                      {"medium", 100, 500, 500, 100, 1, 5},
                      {"large", 50, 1'200, 1'000, 200, 1, 20}}};
}

// Its arrivals come within a second, so clients send them in batches.
Scenario large_scale() {
  return {.name = "large",
          .cohorts = 20,
          .queues = 100,
          .guarantee = 20,
          .borrow = 100,
          .nodes = {.nodes = 40, .slots = 1'000},
          .batch = 100,
          .min_runtime = {},
          .classes = {
              {"small", 20, 20, 50, 50, 1, 1}, {"medium", 7, 50, 100, 100, 1, 5}, {"large", 3, 200, 200, 200, 1, 20}}};
}

// Slots are CPUs, on nodes of 96 in ten racks. A gang that is to lie in one rack of 64 nodes, or as near, is asked here
// to lie on as few nodes as can be, which is stricter.
Scenario racks() {
  return {.name = "racks",
          .cohorts = 2,
          .queues = 3,
          .guarantee = 8'500,
          .borrow = 17'000,
          .nodes = {.nodes = 640, .slots = 96},
          .batch = 1,
          .min_runtime = {},
          .classes = {{"small-required", 50, 200, 10'000, 50, 4, 2},
                      {"medium-required", 30, 500, 15'000, 100, 8, 4},
                      {"large-required", 20, 1'000, 20'000, 200, 16, 8},
                      {"small-preferred", 30, 300, 12'000, 100, 4, 2},
                      {"medium-preferred", 20, 400, 16'000, 150, 8, 4},
                      {"medium-balanced", 15, 600, 18'000, 200, 16, 4},
                      {"large-balanced", 10, 800, 25'000, 250, 32, 8}}};
}

std::vector<Scenario> scenarios() {
  return {baseline("baseline", ""), baseline("baseline_min_runtime", "2s"), large_scale(), racks()};
}

struct Arrival {
  int at_ms;
  std::string tenant;
  const JobClass* kind;
};

std::string queue_name(int cohort, int queue) {
  return "cohort-" + std::to_string(cohort) + "-cq-" + std::to_string(queue);
}

// By time; those of one instant by tenant.
std::vector<Arrival> arrivals_of(const Scenario& scenario) {
  std::vector<Arrival> arrivals;
  for (int cohort = 0; cohort < scenario.cohorts; ++cohort) {
    for (int queue = 0; queue < scenario.queues; ++queue) {
      for (const JobClass& kind : scenario.classes) {
        for (int i = 0; i < kind.count; ++i) {
          arrivals.push_back({(i + 1) * kind.gap_ms, queue_name(cohort, queue), &kind});
        }
      }
    }
  }
  const auto order = [](const Arrival& arrival) { return std::tie(arrival.at_ms, arrival.tenant, arrival.kind->name); };
  std::sort(arrivals.begin(), arrivals.end(), [&](const Arrival& a, const Arrival& b) { return order(a) < order(b); });
  return arrivals;
}

json tenants_of(const Scenario& scenario) {
  json cohorts = json::array();
  for (int cohort = 0; cohort < scenario.cohorts; ++cohort) {
    json queues = json::array();
    for (int queue = 0; queue < scenario.queues; ++queue) {
      queues.push_back(
          {{"name", queue_name(cohort, queue)}, {"guarantee", scenario.guarantee}, {"borrow", scenario.borrow}});
    }
    cohorts.push_back({{"name", "cohort-" + std::to_string(cohort)},
                       {"guarantee", scenario.guarantee * scenario.queues},
                       {"borrow", 0},
                       {"tenants", std::move(queues)}});
  }
  return {{"tenants", std::move(cohorts)}};
}

json job_of(const Arrival& arrival, std::size_t number, const std::string& min_runtime) {
  const JobClass& kind = *arrival.kind;
  const int workers = kind.workers;
  json job = {{"tenant", arrival.tenant},
              {"run", {{"command", {"played", std::to_string(kind.run_ms), std::to_string(number)}}}},
              {"resources", {{"gpus_per_worker", kind.slots}}},
              {"elastic", {{"min", workers}, {"max", workers}, {"preferred", workers}}},
              {"batch", {{"global", workers}, {"per_worker_max", 1}}},
              {"priority", kind.priority}};
  if (!min_runtime.empty()) job["elastic"]["min_runtime"] = min_runtime;
  if (workers > 1) job["topology"] = {{"pack", "node"}};
  return job;
}

void expect(const Answer& answer, unsigned status) {
  if (answer.status != status) throw std::runtime_error("the daemon answered " + answer.body);
}

// What each job's life came to, by its number.
struct Books {
  std::vector<Clock::time_point> submitted;         // when the daemon has answered
  std::vector<std::atomic<std::int64_t>> begun_us;  // after `start`, when it first began to step; 0 = not yet
  Clock::time_point start;
};

// Several clients, each sends what is due next. What they cannot send in time is sent as soon as they can.
class Submitters {
 public:
  Submitters(const Daemon& daemon, const Scenario& scenario, const std::vector<Arrival>& arrivals, Books& books)
      : daemon_(daemon), scenario_(scenario), arrivals_(arrivals), books_(books) {}

  void run(int clients) {
    std::vector<std::thread> threads;
    for (int i = 0; i < clients; ++i) threads.emplace_back([this] { submit(); });
    for (auto& thread : threads) thread.join();
    if (!refused_.empty()) throw std::runtime_error(refused_);
  }

 private:
  void submit() {
    try {
      Client client(daemon_.port(), daemon_.token());
      for (;;) {
        const std::size_t first = next_.fetch_add(batch_);
        if (first >= arrivals_.size()) return;
        const std::size_t end = std::min(first + batch_, arrivals_.size());
        std::this_thread::sleep_until(books_.start + std::chrono::milliseconds(arrivals_[end - 1].at_ms));
        auto answer = send(client, first, end);
        while (answer.status == 503) {  // its queue is full, and nothing was stored
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          answer = send(client, first, end);
        }
        expect(answer, 201);
        for (std::size_t i = first; i < end; ++i) books_.submitted[i] = Clock::now();
      }
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      refused_ = error.what();
    }
  }

  Answer send(Client& client, std::size_t first, std::size_t end) {
    if (batch_ == 1)
      return client.call("POST", "/v1/jobs", job_of(arrivals_[first], first, scenario_.min_runtime).dump());
    json jobs = json::array();
    for (std::size_t i = first; i < end; ++i) jobs.push_back(job_of(arrivals_[i], i, scenario_.min_runtime));
    return client.call("POST", "/v1/jobs:batch", json{{"jobs", std::move(jobs)}}.dump());
  }

  const Daemon& daemon_;
  const Scenario& scenario_;
  const std::vector<Arrival>& arrivals_;
  std::size_t batch_ = static_cast<std::size_t>(scenario_.batch);
  Books& books_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::string refused_;
};

// Until all jobs have run to their end and the daemon lists none that has not; all of them have succeeded then.
void wait_for_end(const Daemon& daemon, const PlayedNodes& nodes, std::size_t jobs, Clock::time_point start) {
  constexpr auto kBetween = std::chrono::milliseconds(20);  // two looks
  while (nodes.finished() < static_cast<std::int64_t>(jobs)) {
    if (Clock::now() - start > std::chrono::minutes(9)) {
      throw std::runtime_error("after nine minutes " + std::to_string(nodes.finished()) + " of " +
                               std::to_string(jobs) + " jobs have ended");
    }
    std::this_thread::sleep_for(kBetween);
  }
  Client client(daemon.port(), daemon.token());
  const auto is_any = [&](const std::string& states) {
    const auto answer = client.call("GET", "/v1/jobs?limit=1&state=" + states);
    expect(answer, 200);
    return !json::parse(answer.body).at("items").empty();
  };
  while (is_any("pending,starting,running")) std::this_thread::sleep_for(kBetween);
  if (is_any("failed,cancelled")) throw std::runtime_error("some jobs did not succeed; the figure is void");
}

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// Mean time from the answer to a submit to the first step, by class.
json waits_of(const std::vector<Arrival>& arrivals, const Books& books) {
  std::map<std::string, std::pair<double, int>> sums;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    auto& [sum, count] = sums[arrivals[i].kind->name];
    sum += static_cast<double>(books.begun_us[i]) * 1e-6 - seconds(books.submitted[i] - books.start);
    ++count;
  }
  json waits;
  for (const auto& [name, sum] : sums) waits[name] = std::max(0.0, sum.first / sum.second);
  return waits;
}

double floor_s(const Scenario& scenario) {
  double slot_seconds = 0;
  double last_end = 0;
  for (const JobClass& kind : scenario.classes) {
    slot_seconds += 1e-3 * kind.count * kind.run_ms * kind.workers * kind.slots;
    last_end = std::max(last_end, 1e-3 * (kind.count * kind.gap_ms + kind.run_ms));
  }
  slot_seconds *= scenario.cohorts * scenario.queues;
  return std::max(last_end, slot_seconds / (scenario.nodes.nodes * scenario.nodes.slots));
}

void measure(const std::string& program, const Scenario& scenario) {
  constexpr int kClients = 16;
  const std::vector<Arrival> arrivals = arrivals_of(scenario);
  Daemon daemon(program);
  Books books{.submitted = std::vector<Clock::time_point>(arrivals.size()),
              .begun_us = std::vector<std::atomic<std::int64_t>>(arrivals.size()),
              .start = Clock::now()};
  const PlayedNodes nodes(daemon.state_dir(), scenario.nodes, [&](std::size_t number) {
    std::int64_t never = 0;
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - books.start);
    books.begun_us[number].compare_exchange_strong(never, since.count());
  });
  {
    Client client(daemon.port(), daemon.token());
    expect(client.call("PUT", "/v1/tenants", tenants_of(scenario).dump()), 200);
  }
  books.start = Clock::now();
  Submitters(daemon, scenario, arrivals, books).run(kClients);
  const double submitted_s = seconds(Clock::now() - books.start);
  wait_for_end(daemon, nodes, arrivals.size(), books.start);
  const double took = seconds(Clock::now() - books.start);
  const json line = {{"bench", "queues"},
                     {"metric", scenario.name + "_" + std::to_string(arrivals.size()) + "_jobs_" +
                                    std::to_string(scenario.cohorts * scenario.queues) + "_queues"},
                     {"value", took},
                     {"unit", "s"},
                     {"baseline", floor_s(scenario)},
                     {"baseline_name", "floor"},
                     {"ratio", took / floor_s(scenario)},
                     {"submitted_s", submitted_s},
                     {"jobs_per_s", static_cast<double>(arrivals.size()) / took},
                     {"workers_ended_early", nodes.ended_early()},
                     {"waits_s", waits_of(arrivals, books)}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// "baseline/10": a tenth of each class's jobs.
Scenario asked(const std::string& word) {
  const std::size_t slash = word.find('/');
  for (Scenario& scenario : scenarios()) {
    if (scenario.name != word.substr(0, slash)) continue;
    const int part = slash == std::string::npos ? 1 : std::stoi(word.substr(slash + 1));
    for (JobClass& kind : scenario.classes) kind.count = std::max(1, kind.count / part);
    return scenario;
  }
  std::string known;
  for (const Scenario& scenario : scenarios()) known += (known.empty() ? "" : ", ") + scenario.name;
  throw std::runtime_error("there is no shape \"" + word + "\"; there are: " + known);
}

}  // namespace

int main(int count, char** arguments) {
  const char* folder = std::getenv("TIDEPOOL_BIN_DIR");
  const std::string program = std::string(folder == nullptr ? "build/release/bin" : folder) + "/schedulerd";
  try {
    std::vector<std::string> words(arguments + 1, arguments + count);
    for (const Scenario& scenario : scenarios()) {
      if (count == 1) words.push_back(scenario.name);
    }
    for (const std::string& word : words) measure(program, asked(word));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "queues_bench: %s\n", error.what());
    return 1;
  }
}
