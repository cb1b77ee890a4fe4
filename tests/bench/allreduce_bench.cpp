// Summing 1, 16 and 64 MB of gradients over two workers: through a whole libtidepool session (control word, data
// ledger and reports included) against Gloo alone. Both sides run in this call, with processes on loopback.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/crew.hpp"
#include "workers/runtime/session.hpp"

namespace {

namespace runtime = tidepool::runtime;
namespace test = tidepool::test;
using Clock = std::chrono::steady_clock;

constexpr int kWorkers = 2;
constexpr int kWarmUp = 3;

struct Task {
  std::size_t floats = 0;
  int rounds = 0;
};

double median_ms(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double median_of_rounds(int rounds, const std::function<void()>& once) {
  std::vector<double> times;
  for (int round = 0; round < kWarmUp + rounds; ++round) {
    const auto begin = Clock::now();
    once();
    if (round >= kWarmUp) times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return median_ms(std::move(times));
}

double bare_gloo_ms(const Task& task) {
  const test::Shared<double> figure;
  test::run_gloo_crew(kWorkers, [&](const auto& context) {
    std::vector<float> values(task.floats, 1.0F);
    const double median = median_of_rounds(task.rounds, [&] { test::sum_over(context, values); });
    if (context->rank == 0) *figure = median;
    return 0;
  });
  return *figure;
}

int session_worker(const Task& task, const test::WorkerPlace& place, double& figure) {
  auto session = runtime::Session::open({.samples = 1'000'000,
                                         .global_batch = 64,
                                         .steps = kWarmUp + task.rounds,
                                         .agent_socket = place.socket_path,
                                         .worker = place.worker});
  if (!session.ok()) return 1;
  const std::span<float> gradient = (*session)->gradients(task.floats);
  if (!(*session)->join().ok()) return 1;
  std::fill(gradient.begin(), gradient.end(), 1.0F);
  const double median = median_of_rounds(task.rounds, [&] {
    if (!(*session)->next_step() || (*session)->reduce(0) == runtime::Reduced::kRetry) std::_Exit(1);
    (*session)->commit();
  });
  if ((*session)->rank() == 0) figure = median;
  return (*session)->next_step() ? 1 : 0;
}

double session_ms(const Task& task) {
  const test::Shared<double> figure;
  test::run_crew(kWorkers, [&](const test::WorkerPlace& place) { return session_worker(task, place, *figure); });
  return *figure;
}

}  // namespace

int main() {
  for (const std::size_t megabytes : {1U, 16U, 64U}) {
    const Task task{.floats = megabytes * (1U << 20U) / sizeof(float), .rounds = megabytes == 1 ? 200 : 20};
    try {
      const double ours = session_ms(task);
      const double bare = bare_gloo_ms(task);
      const nlohmann::json line = {
          {"bench", "allreduce"}, {"metric", "step_of_" + std::to_string(megabytes) + "_mb_2_workers"},
          {"value", ours},        {"unit", "ms"},
          {"baseline", bare},     {"ratio", ours / bare}};
      std::printf("%s\n", line.dump().c_str());
      std::fflush(stdout);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "allreduce_bench: %s\n", error.what());
      return 1;
    }
  }
  return 0;
}
