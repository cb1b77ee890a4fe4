// Random histories of grow, shrink, replace, other shares, kill and double kill, pause, restart of the daemon and
// parking, played by real processes against a leader on a real socket. Whatever happens, the job ends with the result
// of a worker left alone.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "tests/support/seeds.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_leader.hpp"
#include "tests/support/tiny_job.hpp"

namespace tidepool::test {
namespace {

constexpr std::size_t kSizeMax = 6;

class History {
 public:
  History(TinyJobOptions options, Rng& rng)
      : job_(options), leader_([this](const WorkerPlace& place) { return job_.work(place); }), rng_(rng) {}

  void play() {
    std::vector<WorkerId> first;
    for (std::uint64_t i = 0; i <= rng_.below(3); ++i) first.push_back(boot());
    leader_.commit(first);
    const std::int64_t events = rng_.between(2, 6);
    for (std::int64_t i = 0; i < events && !finished(); ++i) {
      if (rng_.chance(0.6)) wait_for_steps(rng_.between(1, 20));
      event();
    }
    INFO("waiting for the end");
    REQUIRE(leader_.run_until([&] { return finished() && none_lives_in(leader_.members()); }, 30'000));
  }

  // Every audit was exact, every replica equal at every step, and the result is that of a worker alone.
  void check() const {
    std::set<std::int64_t> audited;
    for (const auto& audit : leader_.received<api::EpochAuditedMessage>()) {
      CHECK(audit.checksum_ok);
      CHECK(audit.used == audit.expected);
      audited.insert(audit.epoch);
    }
    // No epoch goes without, whichever worker died and whichever was ahead of rank 0 then.
    if (!audited.empty()) CHECK(std::cmp_equal(audited.size(), *audited.rbegin() + 1));
    for (const auto& switched : leader_.received<api::SwitchedMessage>()) {
      CHECK(switched.steps_redone <= 1);
      CHECK(switched.samples_repeated <= static_cast<std::int64_t>(job_.options().global_batch));
      CHECK(switched.stall_ms >= 0);
    }
    // What is said to a leader in the moment that it goes away may be lost, but for audits and the end.
    CHECK((parked_ == 0 || was_away_ || !leader_.received<api::RestoredMessage>().empty()));
    const std::uint64_t expected = job_.reference_digest();
    std::vector<std::uint64_t> digest_of(static_cast<std::size_t>(job_.options().steps) + 1, 0);
    bool any_finished = false;
    for (std::uint64_t id = 1; id <= booted_; ++id) any_finished |= check_worker(WorkerId(id), expected, digest_of);
    CHECK(any_finished);
  }

 private:
  bool check_worker(WorkerId worker, std::uint64_t expected, std::vector<std::uint64_t>& digest_of) const {
    const Diary& diary = job_.diary(worker);
    for (std::size_t step = 1; step < digest_of.size(); ++step) {
      CHECK(diary.times_committed[step] <= 1);
      const std::uint64_t digest = diary.digest_after[step];
      if (digest == 0) continue;
      if (digest_of[step] == 0) digest_of[step] = digest;
      CHECK(digest == digest_of[step]);
    }
    const auto exit = leader_.exits().find(worker);
    if (exit != leader_.exits().end() && !killed_.contains(worker)) CHECK(exit->second == 0);
    if (diary.ending != static_cast<int>(runtime::Ending::kFinished)) return false;
    // The last step may have been adopted from a replica that committed it just before a death.
    CHECK(diary.final_digest == expected);
    return true;
  }

  WorkerId boot() {
    const WorkerId worker = leader_.spawn();
    booted_ = worker.number();
    REQUIRE(leader_.run_until([&] { return leader_.ready(worker); }));
    return worker;
  }

  [[nodiscard]] bool finished() const { return !leader_.received<api::FinishedMessage>().empty(); }

  [[nodiscard]] bool none_lives_in(const std::vector<WorkerId>& workers) const {
    // A joining worker of a generation that the job never reached waits for ever: its end is not part of the claim.
    return std::none_of(workers.begin(), workers.end(),
                        [&](WorkerId worker) { return leader_.alive(worker) && job_.diary(worker).steps > 0; });
  }

  void wait_for_steps(std::int64_t more) {
    const std::int64_t goal = most_steps() + more;
    REQUIRE(leader_.run_until([&] { return finished() || most_steps() >= goal; }));
  }

  [[nodiscard]] std::int64_t most_steps() const {
    std::int64_t most = 0;
    for (std::uint64_t id = 1; id <= booted_; ++id) most = std::max<std::int64_t>(most, job_.diary(WorkerId(id)).steps);
    return most;
  }

  // Without those that the leader does not know to be dead yet.
  [[nodiscard]] std::vector<WorkerId> living_members() const {
    std::vector<WorkerId> living;
    std::copy_if(leader_.members().begin(), leader_.members().end(), std::back_inserter(living),
                 [&](WorkerId worker) { return leader_.alive(worker) && !killed_.contains(worker); });
    return living;
  }

  // Members that hold the job's state; while one of them lives the job can go on.
  [[nodiscard]] bool holds_state(WorkerId worker) const { return job_.diary(worker).steps > 0; }

  // Takes up to `count` random members away, but never the last one that holds the state.
  std::vector<WorkerId> take(std::vector<WorkerId>& members, std::uint64_t count) {
    std::vector<WorkerId> taken;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t at = rng_.below(members.size());
      std::vector<WorkerId> rest = members;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
      if (std::none_of(rest.begin(), rest.end(), [&](WorkerId worker) { return holds_state(worker); })) continue;
      taken.push_back(members[at]);
      members = rest;
    }
    return taken;
  }

  void event() {
    std::vector<WorkerId> members = living_members();
    if (members.empty()) return;
    switch (rng_.below(9)) {
      case 8: rebalance(); break;
      case 0: grow(members); break;
      case 1: shrink(members); break;
      case 2: replace(members); break;
      case 3: kill(members, 1); break;
      case 4: kill(members, 2); break;
      case 5: be_away(members); break;
      case 6: pause(members); break;
      case 7: park_and_resume(members); break;
    }
  }

  void grow(std::vector<WorkerId> members) {
    if (members.size() >= kSizeMax) return;
    members.push_back(boot());
    if (members.size() < kSizeMax && rng_.chance(0.3)) members.push_back(boot());
    commit_living(members);
    // Now and then the joining worker dies while the others build with it.
    if (rng_.chance(0.2)) kill_one(members.back());
  }

  void shrink(std::vector<WorkerId> members) {
    const auto leaving_workers = take(members, 1 + rng_.below(2));
    if (leaving_workers.empty()) return;
    commit_living(members);
    if (rng_.chance(0.2)) kill_one(leaving_workers.front());
  }

  void replace(std::vector<WorkerId> members) {
    const WorkerId joining_worker = boot();
    if (take(members, 1).empty()) return;
    members.push_back(joining_worker);
    commit_living(members);
  }

  void kill(std::vector<WorkerId> members, std::uint64_t count) {
    const auto victims = take(members, count);
    for (const WorkerId victim : victims) {
      kill_one(victim);
      // The second death hits at once or while the survivors rebuild.
      if (rng_.chance(0.5)) static_cast<void>(leader_.run_until([&] { return !leader_.alive(victim); }));
    }
  }

  // Meanwhile the workers go on stepping, or wait in the middle of a switch, or one of them dies.
  void be_away(std::vector<WorkerId> members) {
    leader_.go_away();
    was_away_ = true;
    const std::int64_t goal = most_steps() + 10;
    if (rng_.chance(0.5)) {
      for (const WorkerId victim : take(members, 1)) kill_one(victim);
    }
    static_cast<void>(leader_.run_until([&] { return most_steps() >= goal; }, 60));
    leader_.come_back();
  }

  // Other shares for all, now and then two tables at once, or none for a rank that is then fed nothing.
  void rebalance() {
    for (std::uint64_t orders = 1 + rng_.below(2); orders > 0; --orders) {
      std::vector<std::int64_t> weights;
      for (std::size_t rank = 0; rank < leader_.members().size(); ++rank) weights.push_back(rng_.between(1, 1'000));
      leader_.share(std::move(weights));
    }
  }

  // A stopped process holds the others up for a moment, in a step or in the middle of a switch.
  void pause(std::vector<WorkerId> members) {
    const WorkerId paused = members[rng_.below(members.size())];
    leader_.signal(paused, SIGSTOP);
    if (rng_.chance(0.5)) {
      std::vector<WorkerId> rest = members;
      if (rng_.chance(0.5)) {
        grow(members);
      } else if (!take(rest, 1).empty()) {
        commit_living(rest);
      }
    }
    const std::int64_t goal = most_steps() + 5;
    static_cast<void>(leader_.run_until([&] { return most_steps() >= goal; }, 30));
    leader_.signal(paused, SIGCONT);
  }

  // All leave; others go on from the state that they kept, as many as there were or not.
  void park_and_resume(const std::vector<WorkerId>& members) {
    if (most_steps() == 0 || finished()) return;
    leader_.park();
    const auto gone = [&] {
      return std::none_of(members.begin(), members.end(), [&](WorkerId worker) { return leader_.alive(worker); });
    };
    REQUIRE(leader_.run_until(gone, 30'000));
    if (finished()) return;  // the end came before the order
    ++parked_;
    std::vector<WorkerId> next;
    for (std::uint64_t i = 0; i <= rng_.below(3); ++i) next.push_back(boot());
    leader_.commit(next);
  }

  void kill_one(WorkerId worker) {
    killed_.insert(worker);
    leader_.kill(worker);
  }

  // What the daemon does: it names no worker whose death it knows already.
  void commit_living(std::vector<WorkerId> members) {
    std::erase_if(members, [&](WorkerId worker) { return !leader_.alive(worker); });
    if (!members.empty()) leader_.commit(members);
  }

  TinyJob job_;
  TestLeader leader_;
  Rng& rng_;
  std::uint64_t booted_ = 0;
  std::set<WorkerId> killed_;
  std::size_t parked_ = 0;
  bool was_away_ = false;
};

}  // namespace

TEST_CASE("whatever joins, leaves or dies, each sample is used once and the result is that of one worker") {
  for_each_seed("elastic history", 40, [](std::uint64_t seed, Rng& rng) {
    CAPTURE(seed);
    const TemporaryFolder kept;
    const TinyJobOptions options{
        .samples = 500 + rng.below(3'000),
        .global_batch = 1 + rng.below(60),
        .seed = seed,
        .steps = rng.chance(0.3) ? rng.between(6, 40) : rng.between(60, 250),  // short: events meet the end
        .step_us = rng.between(100, 1'500),
        .build = seed % 3 != 0 ? runtime::BuildMode::kBackground : runtime::BuildMode::kWindow,
        .keep = {.checkpoint_folder = kept / "disk", .park_folder = kept / "memory", .owner = "property/job-1"},
        .in_buckets = rng.chance(0.5),
        .moving_bytes = rng.below(100'000),
        .standing_bytes = rng.below(2'000'000),
        .seldom_bytes = rng.below(1'000'000),
        .ahead_min_bytes = 0,
    };
    History history(options, rng);
    history.play();
    history.check();
  });
}

}  // namespace tidepool::test
