// Summing 1, 16 and 64 MB of gradients over two workers: through a whole libtidepool session (control word, data
// ledger and reports included) against Gloo alone. Both sides run in this call, with processes on loopback.
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_leader.hpp"
#include "workers/runtime/session.hpp"

namespace {

using tidepool::WorkerId;
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

// Where the first worker leaves its figure for the parent.
double* shared_figure() {
  void* memory = ::mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  return static_cast<double*>(memory);
}

std::vector<double> timed_rounds(int rounds, const std::function<void()>& once) {
  std::vector<double> times;
  for (int round = 0; round < kWarmUp + rounds; ++round) {
    const auto begin = Clock::now();
    once();
    if (round >= kWarmUp) times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return times;
}

int bare_worker(const Task& task, int rank, const std::string& folder, double* figure) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, kWorkers);
  context->connectFullMesh(store, device);
  std::vector<float> values(task.floats, 1.0F);
  const double median = median_ms(timed_rounds(task.rounds, [&] {
    gloo::AllreduceOptions call(context);
    call.setOutput(values.data(), values.size());
    call.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    call.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    gloo::allreduce(call);
  }));
  if (rank == 0) *figure = median;
  return 0;
}

double bare_gloo_ms(const Task& task) {
  const tidepool::test::TemporaryFolder folder;
  double* figure = shared_figure();
  std::vector<pid_t> children;
  for (int rank = 0; rank < kWorkers; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(bare_worker(task, rank, folder.path().string(), figure));
    children.push_back(child);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  return *figure;
}

int session_worker(const Task& task, const tidepool::test::WorkerPlace& place, double* figure) {
  namespace runtime = tidepool::runtime;
  auto session = runtime::Session::open({.samples = 1'000'000,
                                         .global_batch = 64,
                                         .steps = kWarmUp + task.rounds,
                                         .agent_socket = place.socket_path,
                                         .worker = place.worker});
  if (!session.ok()) return 1;
  const std::span<float> gradient = (*session)->gradients(task.floats);
  if (!(*session)->join().ok()) return 1;
  std::fill(gradient.begin(), gradient.end(), 1.0F);
  const double median = median_ms(timed_rounds(task.rounds, [&] {
    if (!(*session)->next_step() || (*session)->reduce(0) == runtime::Reduced::kRetry) std::_Exit(1);
    (*session)->commit();
  }));
  if ((*session)->rank() == 0) *figure = median;
  return (*session)->next_step() ? 1 : 0;
}

double session_ms(const Task& task) {
  double* figure = shared_figure();
  tidepool::test::TestLeader leader(
      [&](const tidepool::test::WorkerPlace& place) { return session_worker(task, place, figure); });
  std::vector<WorkerId> workers;
  for (int i = 0; i < kWorkers; ++i) workers.push_back(leader.spawn());
  const bool ready = leader.run_until([&] {
    return std::all_of(workers.begin(), workers.end(), [&](WorkerId worker) { return leader.ready(worker); });
  });
  if (!ready) throw std::runtime_error("the workers did not start");
  leader.commit(workers);
  if (!leader.run_until([&] { return leader.living() == 0; }, 120'000)) throw std::runtime_error("the workers hang");
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
