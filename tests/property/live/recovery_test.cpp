// The daemon may be killed after any commit: what it acknowledged is there, the state is that of a
// daemon that went on, and nothing is decided twice.
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <map>

#include "core/codec/codec.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/state/utc_time.hpp"
#include "policies/host/file_policy.hpp"
#include "schedulerd/live/store/history.hpp"
#include "sim/daemon.hpp"
#include "tests/support/loop_world.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// What clients have been promised, and what they did.
struct Clients {
  std::map<std::string, JobId> acknowledged;  // by idempotency key
  std::uint64_t refused = 0;

  std::function<void(Result<live::Receipt>)> expect(const std::string& key) {
    return [this, key](const Result<live::Receipt>& receipt) {
      if (!receipt.ok()) {
        ++refused;
        return;
      }
      const auto [known, is_new] = acknowledged.try_emplace(key, *receipt->job);
      CHECK(known->second == *receipt->job);
      CHECK(is_new != receipt->replayed);
    };
  }
};

live::InboxItem random_wish(const core::ClusterState& state, Rng& rng, Clients& clients) {
  const auto ignore = [&clients](const Result<live::Receipt>& receipt) {
    if (!receipt.ok()) ++clients.refused;
  };
  if (state.jobs.empty() || rng.chance(0.3)) {
    const std::string key = "key-" + std::to_string(rng.below(12));  // some are retries
    return submit("job-of-" + key, key, clients.expect(key));
  }
  const JobId job(1 + rng.below(state.next_job - 1));
  live::Command command{.body = leader::CancelJob{job}, .actor = "t"};
  switch (rng.below(9)) {
    case 4: command.body = leader::DrainNode{NodeId(1), Duration::millis(rng.between(0, 20'000)), "a disk"}; break;
    case 5: command.body = leader::UndrainNode{NodeId(1)}; break;
    case 7: {
      core::MaintenanceWindow window{
          .selector = {{"node", {sim::node_name(0)}}}, .lead = Duration::seconds(5), .every = {}, .reason = ""};
      window.from_us = core::utc_us(state, state.now) + rng.between(-5'000'000, 20'000'000);
      window.to_us = window.from_us + rng.between(1, 20'000'000);
      command.body = leader::AddMaintenance{std::move(window)};
      break;
    }
    case 6: command.body = leader::ClearNodeFaults{NodeId(1)}; break;
    case 0: command.body = leader::ResizeJob{job, std::array{0, 1, 2, 3, 4}[rng.below(5)]}; break;
    case 1: command.body = leader::SuspendJob{job}; break;
    case 2: command.body = leader::ResumeJob{job}; break;
    case 3: command.body = leader::CordonNode{NodeId(1), rng.chance(0.3)}; break;
    default: break;
  }
  return live::CommandItem{std::move(command), ignore};
}

std::vector<live::InboxItem> random_items(LoopWorld& world, Rng& rng, Clients& clients) {
  std::vector<live::InboxItem> items;
  if (!world.node.connected()) items.emplace_back(world.node.hello());
  if (rng.chance(0.2)) items.push_back(random_wish(world.state(), rng, clients));
  for (std::uint64_t i = rng.below(4); i > 0; --i) {
    auto report = world.node.next_report(rng);
    if (!report) continue;
    // As after a link that broke: what is not acknowledged is said again.
    if (std::holds_alternative<live::WorkerExitedItem>(*report) && rng.chance(0.5)) items.push_back(*report);
    items.push_back(*std::move(report));
  }
  return items;
}

void check_promises(const LoopWorld& world, const Clients& clients) {
  const auto history = live::SqliteHistory::open(world.folder() + "/journal.db");
  REQUIRE(history.ok());
  for (const auto& [key, job] : clients.acknowledged) {
    const core::Job* found = world.state().find_job(job);
    const auto ended = (*history)->ended_job(job);
    REQUIRE((found != nullptr) != (ended != nullptr));  // in the state or in the past, never in both
    CHECK((found != nullptr ? *found : *ended).spec.name == "job-of-" + key);
  }
  const auto picture = world.publisher.picture();
  for (const auto& [job, pulse] : picture->latest_metrics) {
    REQUIRE(world.state().find_job(job) != nullptr);
    CHECK_FALSE(core::is_final(world.state().find_job(job)->state()));
  }
  for (const auto& [worker, compute_ms] : picture->compute_ms) CHECK(world.state().find_worker(worker) != nullptr);
  for (const std::string& violation : world.node.violations()) FAIL_CHECK(violation);
}

}  // namespace

TEST_CASE("a daemon killed after any commit goes on as if nothing had happened") {
  std::uint64_t finished = 0;
  std::int64_t trained = 0;
  for_each_seed("kill_and_recover", 25, [&](std::uint64_t /*seed*/, Rng& rng) {
    live::JournalOptions options;
    options.snapshot_every = 40 + rng.below(200);
    LoopWorld world(options);
    Clients clients;
    INFO(world.failure);
    REQUIRE(world.boot(world.dir / "life-0"));
    for (int turn = 0; turn < 150; ++turn) {
      world.clock.pass(Duration::millis(rng.between(1, 400)));
      REQUIRE(world.turn(random_items(world, rng, clients)));
      if (!rng.chance(0.08)) continue;
      const std::uint64_t before = world.digest();
      world.kill();
      world.clock.pass(Duration::millis(rng.between(1, 20'000)));
      REQUIRE(world.boot(world.folder()));
      CHECK(world.digest() == before);
      check_promises(world, clients);
    }
    finished += world.state().next_job - 1 - world.state().jobs.size();
    trained += static_cast<std::int64_t>(world.state().ended_counts.succeeded);
    CHECK(world.node.started().size() > 1);
  });
  CHECK(finished > 0);
  if (all_seeds_run()) CHECK(trained > 0);
}

namespace {

live::PolicyVersion stored_version() {
  policies::host::PolicyFile file{.manifest = {}, .source = "return {}", .tests = {}};
  file.manifest.name = "drawn";
  return live::version_from(file, nlohmann::json::object());
}

live::InboxItem policy_command(live::CommandBody body) {
  return live::CommandItem{{.body = std::move(body), .actor = "t", .idempotency = {}}, [](const auto&) {}};
}

// What a host might answer to the question that the state has open, some of it about jobs of long ago.
core::PolicyRound drawn_round(const core::ClusterState& state, Rng& rng) {
  core::PolicyRound round{.number = state.deployment.next_round - (rng.chance(0.1) ? 1 : 0), .asked_at = state.now};
  if (rng.chance(0.1)) {
    round.fault = "policy.deadline";
    round.message = "drawn";
    return round;
  }
  for (const auto& [id, job] : state.jobs) {
    if (rng.chance(0.2)) continue;
    core::PolicyJobAnswer wish{.job = id, .asked = core::digest_of_request(*job)};
    wish.rank = static_cast<double>(rng.below(5));
    wish.size = static_cast<int>(rng.below(5));
    if (rng.chance(0.5)) wish.word = "Drawn";
    wish.numbers = {{"of", 5}};
    round.job_answers.push_back(std::move(wish));
  }
  return round;
}

}  // namespace

TEST_CASE("a daemon killed while a policy file decides goes on with the same policy, answers and decisions") {
  std::uint64_t answered = 0;
  std::uint64_t kills = 0;
  for_each_seed("kill_with_policy_file", 20, [&](std::uint64_t /*seed*/, Rng& rng) {
    LoopWorld world({.snapshot_every = 40 + rng.below(100)});
    Clients clients;
    const live::PolicyVersion version = stored_version();
    REQUIRE(world.boot(world.dir / "life-0"));
    REQUIRE(world.turn({policy_command(leader::StorePolicyVersion{version}),
                        policy_command(leader::ActivatePolicy{{{version.name, version.version, "{}"}}})}));
    REQUIRE(world.state().deployment.active);
    for (int turn = 0; turn < 80; ++turn) {
      world.clock.pass(Duration::millis(rng.between(1, 400)));
      auto items = random_items(world, rng, clients);
      if (rng.chance(0.4)) items.emplace_back(live::PolicyRoundItem{drawn_round(world.state(), rng)});
      REQUIRE(world.turn(std::move(items)));
      answered += world.state().deployment.rounds > 0 ? 1U : 0U;
      if (!rng.chance(0.3)) continue;
      const std::uint64_t before = world.digest();
      const core::PolicyDeployment deployment = world.state().deployment;
      ++kills;
      world.kill();
      REQUIRE(world.boot(world.folder()));
      CHECK(world.digest() == before);
      CHECK(world.state().deployment == deployment);
    }
  });
  if (!all_seeds_run()) return;
  CHECK(answered > 100);
  CHECK(kills > 100);
}

TEST_CASE("recovering twice gives the same state as recovering once") {
  for_each_seed("recover_twice", 5, [](std::uint64_t /*seed*/, Rng& rng) {
    LoopWorld world;
    Clients clients;
    REQUIRE(world.boot(world.dir / "life-0"));
    for (int turn = 0; turn < 60; ++turn) {
      world.clock.pass(Duration::millis(100));
      REQUIRE(world.turn(random_items(world, rng, clients)));
    }
    const std::uint64_t before = world.digest();
    for (int life = 0; life < 3; ++life) {
      world.kill();
      REQUIRE(world.boot(world.folder()));
      CHECK(world.digest() == before);
    }
  });
}

TEST_CASE("a flipped byte is refused or changes nothing, and never crashes the daemon") {
  std::uint64_t refused = 0;
  std::uint64_t unharmed = 0;
  for_each_seed("flipped_byte", 120, [&](std::uint64_t seed, Rng& rng) {
    // Some journals end with their rows in the log, some have been folded into the file.
    LoopWorld world({.snapshot_every = seed % 3 == 0 ? 30U : 10'000U});
    Clients clients;
    Rng story(7 + seed % 4);
    REQUIRE(world.boot(world.dir / "life-0"));
    for (int turn = 0; turn < 25; ++turn) {
      world.clock.pass(Duration::millis(100));
      REQUIRE(world.turn(random_items(world, story, clients)));
    }
    const std::uint64_t before = world.digest();
    const bool folded = seed % 2 == 0;
    folded ? world.stop() : world.kill();
    const char* file = folded ? std::array{"/journal.db", "/journal.db.mark"}[rng.below(8) / 7]
                              : std::array{"/journal.db", "/journal.db-wal"}[rng.below(8) > 0 ? 1 : 0];
    const std::string path = world.folder() + file;
    std::fstream damaged(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(rng.below(std::filesystem::file_size(path)));
    damaged.seekg(at);
    const auto byte = static_cast<char>(damaged.get() ^ static_cast<int>(1 + rng.below(255)));
    damaged.seekp(at);
    damaged.put(byte);
    damaged.close();
    if (world.boot(world.folder())) {
      CHECK(world.digest() == before);
      ++unharmed;
    } else {
      CHECK_FALSE(world.failure.empty());
      ++refused;
    }
  });
  std::printf("flipped bytes: %llu refused, %llu harmless\n", static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(unharmed));
}

}  // namespace tidepool::test
