// What the slots cost that no job holds: in which class they are, and how it adds up with what jobs have used.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "core/state/account.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::PoolClass;

// Slots x time up to now.
Duration counted(const Story& story, PoolClass wanted) {
  core::PoolLedger ledger = story.state().pool_ledger;
  ledger.count_until(story.now(), story.state().utc_us_at_zero);
  Duration sum;
  core::for_each_use(ledger, 0, 1'000, [&](std::int64_t, const auto&, PoolClass of, const core::Used& used) {
    if (of == wanted) sum += used.slot_time;
  });
  return sum;
}

// What passes from here on, in whole seconds.
std::int64_t during(Story& story, PoolClass of, std::int64_t seconds) {
  const Duration before = counted(story, of);
  story.pass(Duration::seconds(seconds));
  return (counted(story, of) - before).count_us() / 1'000'000;
}

}  // namespace

TEST_CASE("slots are free while no job waits, and those that a worker holds are its job's") {
  Story story;
  story.node(4);
  const Instant begin = story.now();
  CHECK(during(story, PoolClass::kFree, 10) == 40);
  const JobId id = story.running({.min = 3, .max = 3}, 3);
  CHECK(during(story, PoolClass::kFree, 10) == 10);
  CHECK(during(story, PoolClass::kFragmentation, 10) == 0);
  const Duration held = core::account_at(story.state(), story.job(id), story.now()).slot_time;
  CHECK(held + counted(story, PoolClass::kFree) == (story.now() - begin) * 4);
}

TEST_CASE("free slots that lie apart are fragmentation while a gang waits, and free again once it is gone") {
  Story story;
  story.strict(false);
  story.node(2);
  story.node(2);
  story.running({.min = 1, .max = 1}, 1);
  story.running({.min = 1, .max = 1}, 1);
  CHECK(story.state().slots_free() == 2);
  CHECK(during(story, PoolClass::kFree, 5) == 10);
  // The two run on one node, so a gang of two workers of two slots each has room for one of them.
  const JobId gang = story.submit({.min = 2, .max = 2, .preferred = 2, .gpus = 2});
  story.decide();
  CHECK(story.job(gang).state() == core::JobState::kPending);
  CHECK(during(story, PoolClass::kFragmentation, 5) == 10);
  CHECK(during(story, PoolClass::kFree, 5) == 0);
  story.learn(core::JobCancelRequested{gang});
  story.decide();
  CHECK(during(story, PoolClass::kFree, 5) == 10);
}

TEST_CASE("a job that all slots together would not hold makes none of them fragmentation") {
  Story story;
  story.strict(false);
  story.node(2);
  story.submit({.min = 3, .max = 3, .preferred = 3});
  CHECK(during(story, PoolClass::kFree, 5) == 10);
  story.decide();
  CHECK(during(story, PoolClass::kFree, 5) == 10);
  CHECK(during(story, PoolClass::kFragmentation, 5) == 0);
}

TEST_CASE("free slots of nodes that take no workers are unavailable, and a lost node costs nothing") {
  Story story;
  const NodeId node = story.node(2);
  story.running({.min = 1, .max = 1}, 1);
  story.learn(core::NodeCordonChanged{node, true});
  CHECK(during(story, PoolClass::kUnavailable, 5) == 5);
  CHECK(during(story, PoolClass::kFree, 5) == 0);
  story.learn(core::NodeLost{node, "no heartbeat"});
  CHECK(during(story, PoolClass::kUnavailable, 5) == 0);
}

TEST_CASE("a quarantined slot is unavailable from the moment at which its job is no more charged for it") {
  Story story;
  story.node(2);
  const JobId id = story.running({.min = 2, .max = 2}, 2);
  CHECK(during(story, PoolClass::kUnavailable, 5) == 0);
  story.learn(core::SlotsHeld{.worker = story.job(id).membership.members.back(), .why = "a process is left"});
  CHECK(during(story, PoolClass::kUnavailable, 5) == 5);
}

TEST_CASE("days that are over add up with the present one, and a state of before has none") {
  Story story;
  story.node(2);
  story.pass(Duration::micros(2 * kDayMicros));
  story.node(1);
  CHECK(story.state().pool_ledger.days.size() == 2);
  CHECK(counted(story, PoolClass::kFree) == Duration::micros(4 * kDayMicros));
  nlohmann::json before = core::to_json(story.state());
  before.erase("pool_ledger");
  before.erase("pool_days");
  const auto read = core::state_from_json(before);
  REQUIRE(read.ok());
  const core::Engine engine(plain_parts(std::make_shared<WishPolicy::Wishes>()), *read);
  const core::PoolLedger& fresh = engine.view().pool_ledger;
  CHECK(fresh.days.empty());
  CHECK(fresh.counted_until == read->now);
  CHECK(fresh.types.at("cpu")[PoolClass::kFree].now.slots == 3);
}

}  // namespace tidepool::test
