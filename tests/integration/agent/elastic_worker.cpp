// A worker of one number for the agent's tests: it takes everything from its environment, like any other.
// `elastic_worker HANG_AT` computes for ever at that step; without it, it trains until it is told to leave.
// `elastic_worker -1 SAMPLE_US` takes so many microseconds for each sample of its share of 48, as a device would.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "workers/runtime/session.hpp"

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
  double number = 0;
  (*session)->register_values("number", std::span(&number, 1));
  if (!(*session)->join().ok()) return 1;
  std::printf("pid %d steps from %g\n", ::getpid(), number);
  std::fflush(stdout);
  while (const auto step = (*session)->next_step()) {
    if (step->number == hang_at) ::pause();
    std::this_thread::sleep_for(sample_us == 0 ? std::chrono::milliseconds(1)
                                               : std::chrono::microseconds(sample_us) * step->samples.size());
    if ((*session)->reduce(0) == Reduced::kRetry) continue;
    number += 1;
    (*session)->commit();
  }
  return (*session)->ending() == Ending::kFailed ? 1 : 0;
}
