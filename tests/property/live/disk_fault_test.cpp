// Every write, sync and truncation of a fixed story fails once, in each way a disk fails. After the
// failure the daemon acknowledges nothing; after a restart everything it had acknowledged is there, and
// the batch under way is there whole or not at all. Under sanitizers a fifth of these points.
#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/support/fault_vfs.hpp"
#include "tests/support/loop_world.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

constexpr int kTurns = 14;

struct Outcome {
  std::vector<JobId> acknowledged;
  std::uint64_t digest_before = 0;  // of the last batch that was committed
  std::uint64_t digest_after = 0;   // of the batch under way when the disk failed, as it was in memory
  bool failed = false;
  bool booted = false;
};

// Submits, lets the agent talk, snapshots and checkpoints on the way.
Outcome run_story(LoopWorld& world) {
  Outcome outcome;
  if (!world.boot(world.dir / "state")) return outcome;
  outcome.booted = true;
  outcome.digest_before = world.digest();
  Rng rng(11);
  for (int turn = 0; turn < kTurns; ++turn) {
    world.clock.pass(Duration::millis(500));
    std::vector<live::InboxItem> items;
    if (turn == 0) items.emplace_back(world.node.hello());
    if (turn % 3 == 1) {
      items.push_back(submit("job", "", [&outcome](const Result<live::Receipt>& receipt) {
        if (receipt.ok()) outcome.acknowledged.push_back(*receipt->job);
      }));
    }
    for (int i = 0; i < 3; ++i) {
      if (auto report = world.node.next_report(rng)) items.push_back(*std::move(report));
    }
    outcome.failed = !world.turn(std::move(items));
    outcome.digest_after = world.digest();
    if (outcome.failed) return outcome;
    outcome.digest_before = outcome.digest_after;
  }
  return outcome;
}

// Turns go on while those before them are being written: up to four at once.
Outcome run_ahead(LoopWorld& world, std::vector<std::uint64_t>& digests) {
  Outcome outcome;
  outcome.booted = world.boot(world.dir / "state");
  if (!outcome.booted) return outcome;
  digests.push_back(world.digest());
  std::vector<live::InboxItem> hello{world.node.hello()};
  outcome.failed = !world.turn(std::move(hello));
  digests.push_back(world.digest());
  for (int turn = 0; turn < kTurns && !outcome.failed; ++turn) {
    world.clock.pass(Duration::millis(500));
    std::vector<live::InboxItem> items;
    items.push_back(submit("job", "", [&outcome](const Result<live::Receipt>& receipt) {
      if (receipt.ok()) outcome.acknowledged.push_back(*receipt->job);
    }));
    outcome.failed = !world.turn_ahead(std::move(items)) || (turn % 4 == 3 && !world.settle());
    digests.push_back(world.digest());
  }
  outcome.failed = !world.settle() || outcome.failed;
  return outcome;
}

live::JournalOptions on_failing_disk() {
  return {.vfs = kFaultVfs, .snapshot_every = 12, .retention = Duration::seconds(0)};
}

// What a restart on a sound disk finds.
void check_restart(const LoopWorld& failed, const Outcome& outcome) {
  LoopWorld next;
  const bool up = next.boot(failed.copy_files("after"));
  INFO(next.failure);
  REQUIRE(up);
  for (const JobId job : outcome.acknowledged) {
    CHECK((next.state().find_job(job) != nullptr || next.state().has_ended(job)));
  }
  if (!outcome.booted) return;
  const bool whole_or_absent = next.digest() == outcome.digest_before || next.digest() == outcome.digest_after;
  CHECK(whole_or_absent);
}

}  // namespace

TEST_CASE("whatever operation of the disk fails, nothing acknowledged is lost and nothing is torn") {
  arm_disk_fault(DiskFault::kNone, 0);
  std::uint64_t operations = 0;
  {
    LoopWorld world(on_failing_disk());
    const Outcome outcome = run_story(world);
    INFO(world.failure);
    REQUIRE(outcome.booted);
    REQUIRE_FALSE(outcome.failed);
    REQUIRE(outcome.acknowledged.size() > 3);
    operations = static_cast<std::uint64_t>(disk_operations());
  }
  REQUIRE(operations > 40);
  const SeedRange part = cases_of_this_run(operations);
  std::int64_t points = 0;
  std::int64_t struck = 0;
  for (const DiskFault fault : {DiskFault::kError, DiskFault::kFull, DiskFault::kTorn, DiskFault::kSyncLost}) {
    for (std::uint64_t at = part.first; at <= part.last; at += part.stride) {
      INFO("fault " << static_cast<int>(fault) << " at operation " << at);
      arm_disk_fault(fault, static_cast<std::int64_t>(at));
      LoopWorld world(on_failing_disk());
      const Outcome outcome = run_story(world);
      ++points;
      struck += disk_fault_struck() ? 1 : 0;
      arm_disk_fault(DiskFault::kNone, 0);
      check_restart(world, outcome);
    }
  }
  std::printf("disk faults: %lld points, %lld struck\n", static_cast<long long>(points),
              static_cast<long long>(struck));
  CHECK(struck > points * 9 / 10);
}

TEST_CASE(
    "of turns that are ahead of a disk that fails, a restart finds the first ones whole, all that were acknowledged") {
  arm_disk_fault(DiskFault::kNone, 0);
  std::uint64_t operations = 0;
  {
    LoopWorld world(on_failing_disk());
    std::vector<std::uint64_t> digests;
    const Outcome outcome = run_ahead(world, digests);
    INFO(world.failure);
    REQUIRE_FALSE(outcome.failed);
    REQUIRE(outcome.acknowledged.size() == kTurns);
    operations = static_cast<std::uint64_t>(disk_operations());
  }
  const SeedRange part = cases_of_this_run(operations);
  std::int64_t points = 0;
  std::int64_t failed = 0;
  for (const DiskFault fault : {DiskFault::kError, DiskFault::kTorn, DiskFault::kSyncLost}) {
    for (std::uint64_t at = part.first; at <= part.last; at += part.stride) {
      INFO("fault " << static_cast<int>(fault) << " at operation " << at);
      arm_disk_fault(fault, static_cast<std::int64_t>(at));
      LoopWorld world(on_failing_disk());
      std::vector<std::uint64_t> digests;
      const Outcome outcome = run_ahead(world, digests);
      ++points;
      failed += outcome.failed ? 1 : 0;
      arm_disk_fault(DiskFault::kNone, 0);
      LoopWorld next;
      REQUIRE(next.boot(world.copy_files("after")));
      for (const JobId job : outcome.acknowledged) CHECK(next.state().find_job(job) != nullptr);
      if (outcome.booted) CHECK(std::find(digests.begin(), digests.end(), next.digest()) != digests.end());
    }
  }
  CHECK(failed > points / 3);
}

TEST_CASE("of a turn whose commit fails nothing leaves the daemon: no answer, no picture, no event, no order") {
  arm_disk_fault(DiskFault::kNone, 0);
  LoopWorld world(on_failing_disk());
  REQUIRE(world.boot(world.dir / "state"));
  REQUIRE(world.turn({world.node.hello()}));
  const auto picture = world.publisher.picture();
  std::size_t announced = 0;
  const auto listening = world.publisher.subscribe([&](const auto& events) { announced += events.size(); });
  int answers = 0;
  const auto submit_one = [&] {
    std::vector<live::InboxItem> items;
    items.push_back(submit("job", "", [&](const Result<live::Receipt>&) { ++answers; }));
    return world.turn(std::move(items));
  };
  arm_disk_fault(DiskFault::kError, 1);
  CHECK_FALSE(submit_one());
  CHECK(disk_fault_struck());
  CHECK(answers == 0);
  CHECK(world.publisher.picture() == picture);
  CHECK(announced == 0);
  CHECK(world.node.started().empty());

  // The same turn on a sound disk does all of it.
  arm_disk_fault(DiskFault::kNone, 0);
  REQUIRE(world.boot(world.copy_files("after")));
  REQUIRE(submit_one());
  CHECK(answers == 1);
  CHECK(announced > 0);
  CHECK(world.node.started().size() == 2);
}

}  // namespace tidepool::test
