// What a policy file is shown of pools: their nodes, what waits for more, and what the built-in rule would do.
#include "policies/host/pool_rows.hpp"

#include "tests/support/pool_story.hpp"

namespace tidepool::policies::host {
namespace {

cluster::PoolRow row_of(const test::PoolStory& story, std::size_t row = 0) {
  const auto rows = pool_rows(story.state(), story.now());
  REQUIRE(rows.size() > row);
  return rows[row];
}

}  // namespace

TEST_CASE("a pool's row has its settings, and counts the nodes that come, are idle and leave") {
  core::PoolSpec pool = test::gpu_pool(6);
  pool.min = 2;
  test::PoolStory story({pool});
  CHECK(row_of(story).nodes == 0);
  CHECK(row_of(story).standard == 2);  // the minimum
  REQUIRE(story.plan().size() == 2);
  (void)story.joins(1);
  (void)story.plan();
  story.pass(Duration::seconds(10));
  const cluster::PoolRow row = row_of(story);
  CHECK(row.name == "gpu");
  CHECK(row.slot_type == "cpu");
  CHECK(row.slots == 2);
  CHECK(row.price_per_hour == 1);
  CHECK(row.worth_per_hour == 2);
  CHECK(row.min == 2);
  CHECK(row.max == 6);
  CHECK(row.lead == Duration::seconds(30));
  CHECK(row.idle_after == Duration::seconds(60));
  CHECK(row.nodes == 2);
  CHECK(row.coming == 1);
  CHECK(row.idle == 1);
  CHECK(row.idle_longest == Duration::seconds(10));
  CHECK(row.backlog_jobs == 0);
  story.learn(core::PoolNodeCreateFailed{2, core::ProviderFault::kRefused, "out of stock"});
  CHECK(row_of(story).backoff == Duration::seconds(15));
}

TEST_CASE(
    "the backlog of a pool is the jobs that wait, may be on it and fit nowhere; the built-in rule has nodes for it") {
  test::PoolStory story({test::gpu_pool(4)});
  story.submit({.min = 3, .max = 3});
  story.submit({.min = 2, .max = 2, .gpus = 4});  // on no node of two slots
  CHECK(row_of(story).backlog_jobs == 1);
  CHECK(row_of(story).backlog_slots == 3);
  CHECK(row_of(story).standard == 2);
  REQUIRE(story.plan().size() == 2);
  CHECK(row_of(story).backlog_jobs == 0);  // they fit on what comes
  CHECK(row_of(story).nodes == 2);
  CHECK(row_of(story).standard == 2);
}

TEST_CASE("a group counts in the backlog of pools whose nodes hold it, with the slots that lack in one domain") {
  core::PoolSpec wide = test::gpu_pool(4);
  wide.name = "wide";
  wide.slots_per_node = 4;
  test::PoolStory story({test::gpu_pool(4), wide});
  story.node(3);
  story.node(3);
  story.submit({.min = 4, .max = 4, .group = 4});
  CHECK(row_of(story, 0).backlog_jobs == 0);
  CHECK(row_of(story, 1).backlog_jobs == 1);
  CHECK(row_of(story, 1).backlog_slots == 4);
  CHECK(row_of(story, 1).standard == 1);
}

TEST_CASE("what a policy file wants of pools changes nothing of what the built-in rule would do") {
  test::PoolStory story({test::gpu_pool(4)});
  story.submit({.min = 1, .max = 1});
  core::ClusterState state = story.state();
  state.deployment.active = core::PolicyFileRef{"spare", std::string(64, 'a')};
  state.deployment.pools = {{.pool = "gpu", .nodes = 4}};
  CHECK(pool_rows(state, story.now()).front().standard == 1);
}

TEST_CASE("pools that are no longer configured are not shown") {
  test::PoolStory story({test::gpu_pool()});
  story.submit({.min = 1, .max = 1});
  REQUIRE(story.plan().size() == 1);
  story.learn(core::PoolsConfigured{1, {}});
  CHECK(pool_rows(story.state(), story.now()).empty());
}

}  // namespace tidepool::policies::host
