// A worker of one number for the agent's tests: it takes everything from its environment, like any other.
// `elastic_worker HANG_AT` computes for ever at that step; without it, it trains until it is told to leave.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "workers/runtime/session.hpp"

int main(int argc, char** argv) {
  using namespace tidepool::runtime;
  const std::int64_t hang_at = argc > 1 ? std::atoll(argv[1]) : -1;
  auto options = SessionOptions::from_environment();
  if (!options.ok()) return 2;
  options->samples = 100;
  options->global_batch = 10;
  auto session = Session::open(*options);
  if (!session.ok()) return 2;
  double number = 0;
  (*session)->register_values("number", std::span(&number, 1));
  if (!(*session)->join().ok()) return 1;
  std::printf("pid %d steps from %g\n", ::getpid(), number);
  std::fflush(stdout);
  while (const auto step = (*session)->next_step()) {
    if (step->number == hang_at) ::pause();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if ((*session)->reduce(0) == Reduced::kRetry) continue;
    number += 1;
    (*session)->commit();
  }
  return (*session)->ending() == Ending::kFailed ? 1 : 0;
}
