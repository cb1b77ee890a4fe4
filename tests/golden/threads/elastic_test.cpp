// Threads about jobs whose size changes: what is reserved, what runs, and what is given back.
#include <catch2/catch.hpp>

#include "tests/golden/threads/thread_pool.hpp"

namespace tidepool::test {
namespace {

core::JobSpec elastic_spec(const std::string& tenant, int min, int max) {
  core::JobSpec spec = SharedPool::spec(tenant, max);
  spec.elastic.min = min;
  spec.elastic.sizes.clear();
  for (int size = min; size <= max; ++size) spec.elastic.sizes.push_back(size);
  spec.elastic.cooldown = Duration();
  return spec;
}

// Each worker has its slots to itself, from before it is started until it is gone.
void require_slots_of_workers(const core::ClusterState& state) {
  std::map<WorkerId, std::size_t> owned;
  for (const auto& [id, node] : state.nodes) {
    for (const WorkerId owner : node.owners) owned[owner] += owner ? 1U : 0U;
  }
  for (const auto& [id, worker] : state.workers) REQUIRE(owned[id] == worker.slots.size());
}

}  // namespace

TEST_CASE("kueue#12931: of sizes that are asked for in one instant the last one holds") {
  SharedPool pool({{.name = "vision", .guarantee = 8}});
  const JobId job = pool.submit(elastic_spec("vision", 1, 8));
  pool.story.settle(job);
  pool.story.pass(Duration::seconds(120));
  for (const int size : {6, 2, 7, 3}) pool.story.learn(core::JobResizeRequested{job, size});
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 3);
  for (const int size : {3, 5, 1}) pool.story.learn(core::JobResizeRequested{job, size});
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 1);
  CHECK(pool.story.state().workers.size() == 1);
}

TEST_CASE("kueue#12766: no worker is started beyond what the tenant may have, however large its job may grow") {
  SharedPool pool({{.name = "vision", .guarantee = 4, .borrow = 0}, {.name = "speech", .guarantee = 4}});
  const JobId job = pool.submit(elastic_spec("vision", 1, 8));
  for (int round = 0; round < 12; ++round) {
    pool.story.settle(job);
    CHECK(pool.story.state().workers.size() <= 4);
    require_slots_of_workers(pool.story.state());
    pool.story.steps(job, 600);
  }
  CHECK(pool.story.job(job).size() == 4);
}

TEST_CASE(
    "kueue#13923, kueue#13178: what an elastic job gives back is another's, to the slot, once its workers are gone") {
  SharedPool pool(two_halves());
  const JobId job = pool.running(elastic_spec("vision", 1, 8));
  const JobId claims = pool.submit(SharedPool::spec("speech", 3));
  const core::Decision decision = pool.story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  CHECK(std::get<core::ShrinkIntent>(decision.plan[0].intent).leaving_workers.size() == 3);
  const std::string why = core::sentence(decision.plan[0].reason);
  CHECK_THAT(why, Catch::Contains("8 -> 5 for " + claims.text() + " (rule: guarantee): "));
  CHECK(pool.story.last("job.resizing").data.at("reason").at("text") == why);
  const JobId rest = pool.submit(SharedPool::spec("speech", 1));
  pool.story.decide();
  CHECK(pool.story.job(claims).state() == core::JobState::kPending);
  pool.settle_all();
  CHECK(pool.story.job(job).size() <= 4);
  CHECK(pool.story.job(claims).size() == 3);
  CHECK(pool.story.job(rest).size() == 1);
  require_slots_of_workers(pool.story.state());
  require_still(pool);
}

TEST_CASE("kueue#13646: slots are another's once the workers on them are gone, and no sooner") {
  SharedPool pool(two_halves());
  run_jobs(pool, "vision", 4, 2);
  const JobId claims = pool.submit(SharedPool::spec("speech", 2));
  CHECK(victims_of(pool.story.decide()).size() == 1);
  for (int i = 0; i < 5; ++i) {
    pool.story.pass(Duration::seconds(1));
    pool.story.decide();
    CHECK(pool.story.job(claims).state() == core::JobState::kPending);
  }
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
}

}  // namespace tidepool::test
