// A tiny job, a leader, and worker processes: the stage of the integration tests of runtime and NCCL.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "tests/support/test_leader.hpp"
#include "tests/support/tiny_job.hpp"
#include "workers/runtime/comm/clock.hpp"

namespace tidepool::test {

inline constexpr std::int64_t kSecond = 1'000'000;
// In microseconds. A session's timeouts are 20 s and 30 s: what takes less was not served by one of them.
inline constexpr std::int64_t kFarBelowTimeouts = 10 * kSecond;

struct Scene {
  // `prepare` runs in each worker's process first. The job lingers until the scene waits for its end.
  explicit Scene(TinyJobOptions options, std::function<void(const WorkerPlace&)> prepare = {})
      : job(lingering(std::move(options))), leader([this, prepare = std::move(prepare)](const WorkerPlace& place) {
          if (prepare) prepare(place);
          return job.work(place);
        }) {}

  WorkerId boot() {
    const WorkerId worker = leader.spawn();
    REQUIRE(leader.run_until([&] { return leader.ready(worker); }));
    return worker;
  }
  void start(int size) {
    for (int i = 0; i < size; ++i) workers.push_back(boot());
    leader.commit(workers);
    REQUIRE(reaches(workers.front(), 20));
  }
  [[nodiscard]] bool reaches(WorkerId worker, std::int64_t steps) {
    return leader.run_until([&] { return job.diary(worker).steps >= steps; });
  }
  [[nodiscard]] bool goes_on(WorkerId worker, std::int64_t more = 20) {
    return reaches(worker, job.diary(worker).steps + more);
  }
  [[nodiscard]] bool enters(WorkerId worker, GenerationNumber number) {
    return leader.run_until([&] { return job.diary(worker).generation >= number; });
  }
  void loses(std::size_t index) {
    leader.kill(workers[index]);
    workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(index));
  }
  [[nodiscard]] bool all_have_left() {
    job.hurry();
    return leader.run_until([&] { return leader.living() == 0; });
  }
  void finish() {
    REQUIRE(all_have_left());
    for (const auto& audit : leader.received<api::EpochAuditedMessage>()) CHECK(audit.checksum_ok);
    const auto ends = leader.received<api::FinishedMessage>();  // of each rank
    CHECK(!ends.empty());
    for (const auto& end : ends) CHECK(end.last_step == job.options().steps);
    const auto last = static_cast<std::size_t>(job.options().steps);
    CHECK(job.diary(workers.front()).digest_after[last] == job.reference_digest());
  }

  static TinyJobOptions lingering(TinyJobOptions options) {
    options.lingers = true;
    return options;
  }

  TinyJob job;
  TestLeader leader;
  std::vector<WorkerId> workers;
};

inline std::int64_t gap_after(const Diary& diary, std::int64_t before_us) {
  return diary.last_commit_us - before_us;
}

inline std::int64_t now_us() {
  return runtime::micros_between({}, runtime::Clock::now());
}

}  // namespace tidepool::test
