// Nodes of pools for jobs of tenants: none is made for a job that limits of its tenant keep from starting.
#include <catch2/catch.hpp>

#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

// Tenants on two slots, and a pool whose nodes are not worth making for growth.
struct SmallPool : SharedPool {
  explicit SmallPool(std::vector<core::Tenant> tenants) : SharedPool(std::move(tenants), 2) {
    const Money price = Money::micros(1'000'000);
    story.learn(core::PoolsConfigured{1,
                                      {{.name = "gpu",
                                        .slot_type = "cpu",
                                        .slots_per_node = 2,
                                        .price_per_slot_hour = price,
                                        .worth_per_slot_hour = price,
                                        .max = 4,
                                        .idle = Duration::seconds(60),
                                        .lead_time = Duration::seconds(30)}}});
  }
  // Nodes asked for until nothing follows, and for so long that no other job is waited for.
  std::size_t asked_for(const core::JobSpec& spec) {
    (void)submit(spec);
    return asked();
  }
  std::size_t asked() {
    story.pass(Duration::seconds(60));
    for (core::Decision next = decided(); !next.empty(); next = decided()) (void)story.engine().accept(next);
    return story.state().pools.nodes.size();
  }
  core::Decision decided() { return story.engine().decide(story.now()); }
};

}  // namespace

TEST_CASE("a job that would keep slots for good beyond its tenant's guarantee gets no node") {
  SmallPool pool({{.name = "vision", .guarantee = 2}});
  core::JobSpec firm = SharedPool::spec("vision", 2);
  firm.preemptible = false;
  (void)pool.running(firm);
  CHECK(pool.asked_for(firm) == 0);
  CHECK(pool.asked_for(SharedPool::spec("vision", 2)) == 1);
}

TEST_CASE("a job gets no node while what its tenant may borrow is used up, or its parent's is") {
  SmallPool pool({{.name = "lab", .guarantee = 1, .borrow = 1},
                  {.name = "vision", .parent = "lab", .guarantee = 1},
                  {.name = "speech", .parent = "lab"},
                  {.name = "text"}});
  (void)pool.running("vision", 2);
  CHECK(pool.asked_for(SharedPool::spec("vision", 1)) == 0);
  CHECK(pool.asked_for(SharedPool::spec("speech", 1)) == 0);
  CHECK(pool.asked_for(SharedPool::spec("text", 1)) == 1);
}

TEST_CASE("a job gets no node where tenants with a better claim would have its slots") {
  SmallPool pool({{.name = "vision", .weight = 0}, {.name = "speech"}});
  core::JobSpec large = SharedPool::spec("speech", 2);
  large.elastic.max = 16;
  large.elastic.sizes = {2, 4, 8, 16};
  (void)pool.submit(large);
  pool.settle_all();
  REQUIRE(pool.plan("speech").wants_more());
  CHECK(pool.asked_for(SharedPool::spec("vision", 2)) == 0);
  pool.configure({{.name = "vision", .guarantee = 2, .weight = 0}, {.name = "speech"}});
  CHECK(pool.asked() == 1);
}

}  // namespace tidepool::test
