// A worker of one number for the agent's tests: it takes everything from its environment, like any other.
// `elastic_worker HANG_AT` computes for ever at that step; without it, it trains until it is told to leave.
// `elastic_worker -1 SAMPLE_US` takes so many microseconds for each sample of its share of 48, as a device would: what
// the host does between two steps adds nothing unless it takes longer, so a busy machine does not show in its speed.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <thread>

#include "workers/runtime/session.hpp"

namespace {

class ModelledDevice {
 public:
  explicit ModelledDevice(std::int64_t sample_us) : sample_(sample_us) {}

  void compute(std::int64_t samples) {
    const auto now = std::chrono::steady_clock::now();
    done_ = std::max(done_.value_or(now) + sample_ * samples, now);
    std::this_thread::sleep_until(*done_);
  }

 private:
  std::chrono::microseconds sample_;
  std::optional<std::chrono::steady_clock::time_point> done_;  // with the step before
};

}  // namespace

int main(int argc, char** argv) {
  using namespace tidepool::runtime;
  const std::int64_t hang_at = argc > 1 ? std::atoll(argv[1]) : -1;
  const std::int64_t sample_us = argc > 2 ? std::atoll(argv[2]) : 0;
  auto options = SessionOptions::from_environment();
  if (!options.ok()) return 2;
  options->samples = sample_us == 0 ? 100 : 960;
  options->global_batch = sample_us == 0 ? 10 : 48;
  auto session = Session::open(*options);
  if (!session.ok()) return 2;
  ModelledDevice device(sample_us);
  double number = 0;
  (*session)->register_values("number", std::span(&number, 1));
  if (!(*session)->join().ok()) return 1;
  std::printf("pid %d steps from %g\n", ::getpid(), number);
  std::fflush(stdout);
  while (const auto step = (*session)->next_step()) {
    if (step->number == hang_at) ::pause();
    if (sample_us == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    device.compute(std::ssize(step->samples));
    if ((*session)->reduce(0) == Reduced::kRetry) continue;
    number += 1;
    (*session)->commit();
  }
  return (*session)->ending() == Ending::kFailed ? 1 : 0;
}
