// A policy file in charge of a simulated daemon: it is asked by the daemon's own turn, its answers are facts like all
// others, and a run with it is as sound and as repeatable as one without. The file is played here; that a real one in
// its sandboxed process is asked so is proven with the command (tests/integration/policy_host/).
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include <catch2/catch.hpp>

#include "core/decide/plan_inputs.hpp"
#include "policies/host/file_policy.hpp"
#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using sim::SimResult;
using sim::SimSetup;

core::PolicyFileRef played_file() {
  core::PolicyFileRef file;
  file.name = "played";
  file.version = std::string(64, 'a');
  return file;
}

using Answer = std::function<void(const core::ClusterState& state, core::PolicyRound& round)>;

// The setup with a file in charge that answers so; returns how often it has been asked.
std::shared_ptr<int> put_in_charge(SimSetup& setup, const core::PolicyFileRef& file, const Answer& answer) {
  const auto policy = std::make_shared<const policies::host::FilePolicy>(policies::host::built_in_fallback());
  const auto asked = std::make_shared<int>(0);
  setup.parts = [before = setup.parts, policy] {
    core::Engine::Parts parts = before();
    parts.file_policy = policy;
    return parts;
  };
  setup.file = sim::ActivePolicyFile{.file = file, .policy = policy, .asker = [answer, asked](const auto& /*parts*/) {
                                       return [answer, asked](const core::ClusterState& state, Instant now,
                                                              std::int64_t number) {
                                         ++*asked;
                                         core::PolicyRound round{.number = number, .asked_at = now};
                                         answer(state, round);
                                         return round;
                                       };
                                     }};
  return asked;
}

// No job gets more slots than this.
Answer at_most(int slots) {
  return [slots](const core::ClusterState& state, core::PolicyRound& round) {
    for (const auto& [id, job] : state.jobs) {
      if (core::is_final(job->state())) continue;
      core::PolicyJobAnswer wish{.job = id, .asked = core::digest_of_request(*job)};
      const int per_worker = job->spec.gpus_per_worker;
      wish.size = std::max(job->spec.elastic.min, std::min(job->spec.elastic.max, slots / per_worker)) * per_worker;
      round.job_answers.push_back(std::move(wish));
    }
  };
}

void fail(const core::ClusterState& /*state*/, core::PolicyRound& round) {
  round.fault = "policy.runtime_error";
  round.message = "policy.runtime_error (size): line 3";
}

// One job of some minutes that may have up to four slots and gains by each.
SimSetup long_job_world() {
  SimSetup setup = one_job_world();
  setup.parts = [] { return engine_parts("tidal"); };
  sim::SimJob& job = setup.workload.jobs.front();
  job.truth.curve = {.lambda = 100, .sigma = 0.05, .kappa = 0};
  job.truth.work_samples = 90'000;
  job.spec.elastic.max = job.spec.elastic.preferred = 4;
  job.spec.elastic.sizes = sim::sizes_between(1, 4);
  return setup;
}

int most_held(const SimResult& result) {
  int most = 0;
  for (const auto& row : result.rows) {
    for (const auto& held : row.held) most = std::max(most, held.slots);
  }
  return most;
}

TEST_CASE("a policy file in charge of a simulated daemon sizes the jobs") {
  for (const int slots : {1, 3}) {
    SimSetup setup = long_job_world();
    const auto asked = put_in_charge(setup, played_file(), at_most(slots));
    const SimResult result = run_soundly(setup);
    CHECK(most_held(result) == slots);
    CHECK(*asked > 1);
    CHECK(result.state.deployment.active == played_file());
    CHECK(result.state.deployment.rounds == *asked);
  }
}

TEST_CASE("a policy file that fails three rounds in a row is rolled back in a simulated daemon, too") {
  SimSetup setup = long_job_world();
  const auto asked = put_in_charge(setup, played_file(), fail);
  const SimResult result = run_soundly(setup);
  CHECK(*asked == core::kPolicyFailuresMost);
  CHECK_FALSE(result.state.deployment.active);
  CHECK(result.rows.front().state == core::JobState::kSucceeded);
}

TEST_CASE("a daemon with a policy file that dies again and again keeps every promise, and decides the same each time") {
  int asked_in_all = 0;
  for_each_seed("crashes with a file", 60, [&](std::uint64_t seed, Rng&) {
    SimSetup setup = troubled(small_world(seed), seed);
    const auto asked = put_in_charge(setup, played_file(), at_most(2));
    const SimResult first = run_soundly(setup);
    CHECK(first.state.deployment.active == played_file());
    CHECK(first.digest == run(setup).digest);
    asked_in_all += *asked;
  });
  CHECK(asked_in_all > 0);
}

TEST_CASE("a run ends with the nodes that a policy file wants to have without a job") {
  SimSetup setup = long_job_world();
  setup.cluster.nodes = 0;
  setup.pools.pools = {{.spec = {.name = "gpu",
                                 .slots_per_node = 4,
                                 .price_per_slot_hour = Money::micros(1'000'000),
                                 .worth_per_slot_hour = Money::micros(2'000'000),
                                 .max = 4,
                                 .idle = Duration::seconds(15),
                                 .lead_time = Duration::seconds(6)},
                        .lead_spread = 0.5}};
  core::PolicyFileRef file = played_file();
  file.provisions = true;
  (void)put_in_charge(setup, file, [](const core::ClusterState& state, core::PolicyRound& round) {
    at_most(4)(state, round);
    round.pools.push_back({.pool = "gpu", .nodes = 2});
  });
  const SimResult result = run_soundly(setup);
  CHECK(result.state.pools.count("gpu") == 2);
  CHECK(result.end < setup.limit);
}

}  // namespace
}  // namespace tidepool::test
