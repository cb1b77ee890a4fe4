// What a tenant may hold of jobs to which the plan gives nothing (core/decide/reconcile/holding_limits.hpp).
#include <catch2/catch.hpp>

#include "core/words/sentence.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {

TEST_CASE("a job that the plan gives nothing leaves where its tenant would hold more than it may borrow") {
  SharedPool pool({{.name = "vision", .guarantee = 2, .borrow = 1}, {.name = "speech", .guarantee = 4}});
  const JobId first = pool.running("vision", 3);
  core::JobSpec urgent = SharedPool::spec("vision", 2);
  urgent.priority = 1;
  const JobId second = pool.submit(urgent);
  // Free slots are enough for it, so no claim needs those of the first.
  const core::Decision decision = pool.story.decide();
  REQUIRE(names_of(decision) == "start preempt");
  const std::string told = "preempted: tenant vision may hold 3 slots, and the plan gives these to other jobs";
  CHECK(core::sentence(decision.plan[1].reason) == told);
  pool.settle_all();
  CHECK(pool.story.job(first).state() == core::JobState::kPending);
  CHECK(pool.held_by("vision") == 2);
  CHECK(pool.story.job(second).size() == 2);
}

TEST_CASE("what a tenant may hold is bounded by those above it, and by what others do not lend") {
  struct Bounded {
    std::vector<core::Tenant> tree;
    std::string by;
  };
  const Bounded by_parent{.tree = {{.name = "lab", .guarantee = 2, .borrow = 2}, {.name = "vision", .parent = "lab"}},
                          .by = "lab may hold 4 slots"};
  const Bounded by_lend{.tree = {{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 4, .lend = 1}},
                        .by = "vision may hold 5 slots"};
  for (const Bounded& each : {by_parent, by_lend}) {
    INFO(each.by);
    SharedPool pool(each.tree);
    const JobId first = pool.running("vision", 3);
    core::JobSpec urgent = SharedPool::spec("vision", 3);
    urgent.priority = 1;
    const JobId second = pool.submit(urgent);
    const core::Decision decision = pool.story.decide();
    REQUIRE(names_of(decision) == "start preempt");
    CHECK(core::sentence(decision.plan[1].reason).find(each.by) != std::string::npos);
    pool.settle_all();
    CHECK(pool.story.job(first).state() == core::JobState::kPending);
    CHECK(pool.story.job(second).size() == 3);
  }
}

}  // namespace tidepool::test
