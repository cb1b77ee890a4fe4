// How long training stands still when a third worker joins two that hold 200 MB of state, against the
// time that the same bytes need over the same transport alone. Once for a state that every step changes, and once for
// one that stands still, which is sent ahead.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/test_leader.hpp"
#include "tests/support/tiny_job.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/comm/gloo_comm.hpp"

namespace {

using namespace tidepool;

constexpr std::size_t kBytes = 200'000'000;
constexpr int kRepetitions = 5;

void require(bool holds, const char* claim) {
  if (!holds) throw std::runtime_error(claim);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Join {
  double stall_ms = 0;
  double build_ms = 0;
  double moved_bytes = 0;
};

Join join_third(std::size_t moving, std::size_t standing) {
  test::TinyJob job({.samples = 100'000,
                     .steps = 8'000,
                     .step_us = 20'000,
                     .moving_bytes = moving,
                     .standing_bytes = standing,
                     .keeps_digests = false});
  test::TestLeader leader([&](const test::WorkerPlace& place) { return job.work(place); });
  const auto boot = [&] {
    const WorkerId worker = leader.spawn();
    require(leader.run_until([&] { return leader.ready(worker); }, 60'000), "a worker boots");
    return worker;
  };
  std::vector<WorkerId> members = {boot(), boot()};
  leader.commit(members);
  require(leader.run_until([&] { return job.diary(members[0]).steps >= 20; }, 60'000), "two workers train");
  members.push_back(boot());
  leader.commit(members);
  require(leader.run_until([&] { return leader.received<api::SwitchedMessage>().size() == 2; }, 120'000),
          "the third worker joins");
  const auto switched = leader.received<api::SwitchedMessage>()[1];
  return {.stall_ms = switched.stall_ms,
          .build_ms = switched.build_ms,
          .moved_bytes = static_cast<double>(switched.bytes_moved)};
}

// The bytes from one rank to two others, in one piece, nothing else.
double bandwidth_ms() {
  using runtime::GlooComm;
  std::vector<std::shared_ptr<GlooComm>> ranks;
  std::vector<api::CommAddress::Gloo> addresses;
  for (int rank = 0; rank < 3; ++rank) {
    auto comm = GlooComm::open({.rank = rank, .size = 3});
    require(comm.ok(), "the mesh opens");
    ranks.push_back(*comm);
    addresses.push_back((*comm)->address());
  }
  std::vector<double> took(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      std::vector<std::byte> bytes(kBytes);
      if (!ranks[rank]->connect(addresses).ok()) return;
      ranks[rank]->settle();
      const auto begin = runtime::Clock::now();
      if (ranks[rank]->broadcast(bytes, 0).ok()) took[rank] = runtime::millis_between(begin, runtime::Clock::now());
      ranks[rank]->settle();
    });
  }
  for (auto& thread : threads) thread.join();
  return *std::max_element(took.begin(), took.end());
}

void measure(const char* metric, std::size_t moving, std::size_t standing) {
  std::vector<double> stalls;
  std::vector<double> bare;
  Join last;
  for (int i = 0; i < kRepetitions; ++i) {
    last = join_third(moving, standing);
    stalls.push_back(last.stall_ms);
    bare.push_back(bandwidth_ms());
  }
  const nlohmann::json line = {{"bench", "large_state"},    {"metric", metric},
                               {"value", median(stalls)},   {"unit", "ms"},
                               {"baseline", median(bare)},  {"ratio", median(stalls) / median(bare)},
                               {"build_ms", last.build_ms}, {"moved_bytes_at_switch", last.moved_bytes}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main() {
  try {
    measure("gap of a grow 2 to 3 with 200 MB that every step changes", kBytes, 0);
    measure("gap of a grow 2 to 3 with 200 MB that stands still", 0, kBytes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "large_state_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
