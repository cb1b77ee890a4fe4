// Tenants whose jobs ask for types of slots of which there are not enough for all: guarantees by type, and even parts.
#include <catch2/catch.hpp>

#include "core/explain/current_reason.hpp"
#include "core/tenants/type_guarantees.hpp"
#include "core/words/sentence.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

// So many slots of the type "new" beside as many of the type "cpu".
struct TypedPool : SharedPool {
  explicit TypedPool(std::vector<core::Tenant> tenants, int each = 4, const std::string& policy = "tidal")
      : SharedPool({}, each, policy) {
    node_of("new", each);
    configure(std::move(tenants));
  }

  void node_of(const std::string& type, int slots, Money price = {}) {
    story.learn(core::NodeJoined{story.engine().node_id_for(type), type, slots, type, price, {}});
  }
  static core::JobSpec typed(const std::string& tenant, int size, std::vector<std::string> types = {"new"}) {
    core::JobSpec spec = SharedPool::spec(tenant, size);
    spec.slot_types = std::move(types);
    return spec;
  }
  // Slots of the type that the tenant's jobs hold.
  [[nodiscard]] int held_of(const std::string& tenant, const std::string& type) const {
    int slots = 0;
    for (const auto& [id, worker] : story.state().workers) {
      const bool is_theirs = story.job(worker.job).spec.tenant == tenant && !worker.is_gone();
      if (is_theirs && story.state().find_node(worker.node)->slot_type == type) ++slots;
    }
    return slots;
  }
  [[nodiscard]] int entitled_to(const std::string& tenant, const std::string& type = "new") const {
    return plan(tenant).of_types.at(type);
  }
};

core::Tenant guaranteed(const std::string& name, int slots, int of_new) {
  return {.name = name, .guarantee = slots, .guarantee_by_type = {{"new", of_new}}};
}

}  // namespace

TEST_CASE("a guarantee of a type is had back in one decision from jobs that ask for the type") {
  TypedPool pool({guaranteed("vision", 4, 2), {.name = "speech", .guarantee = 4}});
  for (int i = 0; i < 2; ++i) (void)pool.running(TypedPool::typed("speech", 2));
  REQUIRE(pool.held_of("speech", "new") == 4);
  const JobId claim = pool.submit(TypedPool::typed("vision", 2));
  CHECK(preempted_in(pool.story.decide()) == 1);
  CHECK(pool.entitled_to("vision") == 2);
  CHECK(pool.entitled_to("speech") == 2);
  CHECK(pool.plan("speech").lacks_slots == 2);
  CHECK(pool.plan("speech").wanted_in_all() == 4);
  CHECK(pool.plan("vision").lacks_slots == 0);
  pool.settle_all();
  CHECK(pool.story.job(claim).size() == 2);
  CHECK(pool.held_of("vision", "new") == 2);
}

TEST_CASE("a job with a price cap claims a guarantee on the types that are not too dear for it") {
  // A slot of type "cpu" costs a dollar, one of type "new" nine.
  const auto types = GENERATE(std::vector<std::string>{}, std::vector<std::string>{"cpu", "new"});
  const int workers = GENERATE(1, 2);
  const bool is_rich = GENERATE(true, false);
  CAPTURE(types, workers, is_rich);
  TypedPool pool(
      {{.name = "lab", .guarantee = 4}, {.name = "vision", .weight = 0}, {.name = "speech", .guarantee = 2}});
  pool.node_of("new", 4, Money::micros(9'000'000));
  (void)pool.running(TypedPool::typed("lab", 4));
  for (int i = 0; i < 2; ++i) (void)pool.running(SharedPool::spec("vision", 2));
  REQUIRE(pool.held_of("vision", "cpu") == 4);
  core::JobSpec capped = TypedPool::typed("speech", workers, types);
  capped.gpus_per_worker = 2 / workers;
  capped.scaling.price_cap = Money::micros(is_rich ? 2'000'000 : 1'900'000);
  const JobId claim = pool.submit(capped);
  CHECK(preempted_in(pool.story.decide()) == (is_rich ? 1 : 0));
  pool.settle_all();
  CHECK(pool.story.job(claim).size() == (is_rich ? workers : 0));
  CHECK(pool.held_of("vision", "cpu") == (is_rich ? 2 : 4));
}

TEST_CASE(
    "a job with a price cap claims a guarantee on the nodes that are within it, where others of the type are not") {
  const bool is_rich = GENERATE(true, false);
  CAPTURE(is_rich);
  SharedPool pool({{.name = "vision", .weight = 0}, {.name = "speech", .guarantee = 2}}, 4);  // a slot costs a dollar
  for (int i = 0; i < 2; ++i) (void)pool.running("vision", 2);
  const NodeId dear = pool.story.node(4, "dear", {}, Money::micros(9'000'000));
  pool.configure(
      {{.name = "lab", .guarantee = 4}, {.name = "vision", .weight = 0}, {.name = "speech", .guarantee = 2}});
  (void)pool.running("lab", 4);
  core::JobSpec capped = SharedPool::spec("speech", 2);
  capped.scaling.price_cap = Money::micros(is_rich ? 2'000'000 : 1'900'000);
  const JobId claim = pool.submit(capped);
  CHECK(preempted_in(pool.story.decide()) == (is_rich ? 1 : 0));
  pool.settle_all();
  CHECK(pool.story.job(claim).size() == (is_rich ? 2 : 0));
  for (const NodeId node : pool.story.nodes_of(claim)) CHECK(node != dear);
  CHECK(pool.held_by("lab") == 4);
  CHECK(pool.held_by("vision") == (is_rich ? 2 : 4));
}

TEST_CASE("a guarantee of a type is had back for a job that its price cap leaves some nodes of the type alone") {
  TypedPool pool({guaranteed("vision", 4, 2), {.name = "speech", .guarantee = 4}});
  pool.story.node(4, "n1", {}, Money::micros(9'000'000));  // the one of type "cpu"
  pool.node_of("new", 4, Money::micros(1'000'000));
  pool.story.learn(
      core::NodeJoined{pool.story.engine().node_id_for("dear"), "dear", 1, "new", Money::micros(9'000'000), {}});
  for (int i = 0; i < 2; ++i) (void)pool.running(TypedPool::typed("speech", 2));
  REQUIRE(pool.held_of("speech", "new") == 4);
  core::JobSpec capped = SharedPool::spec("vision", 2);
  capped.scaling.price_cap = Money::micros(2'000'000);
  const JobId claim = pool.submit(capped);
  CHECK(core::TypeGuarantees(pool.story.state()).are_claimed_by(pool.story.job(claim)));
  CHECK(preempted_in(pool.story.decide()) == 1);
  CHECK(pool.entitled_to("vision") == 2);
  pool.settle_all();
  CHECK(pool.story.job(claim).size() == 2);
  CHECK(pool.held_of("vision", "new") == 2);
  // What it holds is of the guarantee: another such job claims none.
  const JobId second = pool.submit(capped);
  CHECK_FALSE(core::TypeGuarantees(pool.story.state()).are_claimed_by(pool.story.job(second)));
}

TEST_CASE("without guarantees of a type its slots are shared by weight") {
  TypedPool pool({{.name = "vision", .weight = 3}, {.name = "speech", .weight = 1}});
  for (int i = 0; i < 4; ++i) (void)pool.submit(TypedPool::typed("vision", 1));
  for (int i = 0; i < 4; ++i) (void)pool.submit(TypedPool::typed("speech", 1));
  pool.story.decide();
  CHECK(pool.entitled_to("vision") == 3);
  CHECK(pool.entitled_to("speech") == 1);
  pool.settle_all();
  CHECK(pool.held_of("vision", "new") == 3);
  CHECK(pool.held_of("speech", "new") == 1);
}

TEST_CASE("a job that its tenant's part of a type keeps from its next size is told so, and not to raise its maximum") {
  TypedPool pool({{.name = "vision"}, {.name = "speech"}});
  (void)pool.running(TypedPool::typed("speech", 2));
  core::JobSpec elastic = TypedPool::typed("vision", 2);
  elastic.elastic = test::job_spec({.min = 2, .max = 4}).elastic;
  const JobId job = pool.submit(elastic);
  pool.story.settle(job);
  (void)pool.submit(TypedPool::typed("speech", 2));
  pool.story.decide();
  REQUIRE(pool.story.job(job).size() == 2);
  REQUIRE(pool.entitled_to("vision") == 2);
  const core::Reason why = core::refreshed(pool.story.state(), pool.story.job(job), core::reason::AtMax{{.size = 2}});
  CHECK(core::sentence(why) == "keeps 2 workers: tenant vision may have 2 slots of type new now");
  CHECK(core::unblocks_of(why, job) ==
        std::vector<std::string>{"a larger guarantee_by_type of new for tenant vision: schedctl tenants apply FILE"});
}

TEST_CASE("where jobs ask for no more of a type than there is, no tenant has a bound") {
  TypedPool pool({guaranteed("vision", 4, 4), {.name = "speech", .guarantee = 4}});
  (void)pool.submit(TypedPool::typed("speech", 4));
  (void)pool.submit(SharedPool::spec("vision", 4));
  pool.story.decide();
  CHECK(pool.plan("vision").of_types.empty());
  CHECK(pool.plan("speech").of_types.empty());
  pool.settle_all();
  CHECK(pool.held_of("speech", "new") == 4);
  CHECK(pool.held_of("vision", "cpu") == 4);
}

TEST_CASE("jobs that ask for several types are given what those that ask for one of them alone leave") {
  TypedPool pool({{.name = "vision"}, {.name = "speech"}});
  pool.node_of("third", 1);  // else those of vision would take any
  for (int i = 0; i < 4; ++i) (void)pool.submit(TypedPool::typed("speech", 1));
  for (int i = 0; i < 6; ++i) (void)pool.submit(TypedPool::typed("vision", 1, {"new", "cpu"}));
  pool.story.decide();
  pool.settle_all();
  CHECK(pool.held_of("speech", "new") == 4);
  CHECK(pool.held_of("vision", "cpu") == 4);
}

TEST_CASE("a guarantee of a type holds for jobs that ask for another one, too, where that is taken") {
  TypedPool pool({guaranteed("vision", 4, 2), {.name = "speech"}, {.name = "guests"}});
  pool.node_of("third", 1);
  for (int i = 0; i < 4; ++i) (void)pool.submit(TypedPool::typed("guests", 1, {"cpu"}));
  for (int i = 0; i < 4; ++i) (void)pool.submit(TypedPool::typed("speech", 1));
  pool.settle_all();
  REQUIRE(pool.held_of("speech", "new") == 4);
  for (int i = 0; i < 2; ++i) (void)pool.submit(TypedPool::typed("vision", 1, {"new", "cpu"}));
  pool.story.decide();
  pool.settle_all();
  CHECK(pool.held_of("vision", "new") + pool.held_of("vision", "cpu") == 2);
}

TEST_CASE("a tenant's part of the pool is where its jobs ask for it, whatever policy decides") {
  for (const std::string policy : {"las", "tiresias", "elastic_tiresias", "cluster_autoscaling"}) {
    INFO(policy);
    TypedPool pool({{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}}, 4, policy);
    for (int i = 0; i < 6; ++i) (void)pool.submit(TypedPool::typed("vision", 1));
    for (int i = 0; i < 6; ++i) (void)pool.submit(TypedPool::typed("speech", 1, {"cpu"}));
    pool.settle_all();
    CHECK(pool.held_of("vision", "new") == 4);
    CHECK(pool.held_of("speech", "cpu") == 4);
  }
}

TEST_CASE("a guarantee of a type is had back under a policy to which all slots are alike, too") {
  TypedPool pool({guaranteed("vision", 4, 2), {.name = "speech", .guarantee = 4}}, 4, "las");
  for (int i = 0; i < 2; ++i) (void)pool.running(TypedPool::typed("speech", 2));
  REQUIRE(pool.held_of("speech", "new") == 4);
  (void)pool.submit(TypedPool::typed("vision", 2));
  pool.settle_all();
  CHECK(pool.held_of("vision", "new") == 2);
  CHECK(pool.held_of("speech", "new") == 2);
}

TEST_CASE("a job that the plan gives nothing is counted once where it stands in the way of a guarantee of a type") {
  TypedPool pool({guaranteed("vision", 2, 2), {.name = "speech", .guarantee = 3}}, 2, "las");
  for (const std::string type : {"cpu", "cpu", "new"}) {
    core::JobSpec firm = TypedPool::typed("speech", 1, {type});
    firm.preemptible = false;
    (void)pool.running(firm);
  }
  const JobId loan = pool.running(SharedPool::spec("speech", 1));
  REQUIRE(pool.held_of("speech", "new") == 2);
  const JobId claim = pool.submit(TypedPool::typed("vision", 2));
  CHECK(preempted_in(pool.story.decide()) == 0);  // its slot alone is not enough
  CHECK(pool.story.job(loan).planned->target.size == 0);
  CHECK(pool.story.job(claim).size() == 0);
}

TEST_CASE("a job that lists several types leaves the one of them that another tenant is guaranteed") {
  const std::string policy = GENERATE("tidal", "las", "tiresias", "elastic_tiresias", "cluster_autoscaling");
  const int claimed = GENERATE(2, 4);
  const int jobs = GENERATE(1, 2, 4);  // those of a single worker cannot hand their state on, and are preempted
  CAPTURE(policy, claimed, jobs);
  TypedPool pool({guaranteed("vision", 4, 4), {.name = "speech"}, {.name = "guests"}}, 4, policy);
  pool.node_of("third", 1);  // else those of speech would take any
  const JobId guest = pool.running(TypedPool::typed("guests", 4, {"cpu"}));
  for (int i = 0; i < jobs; ++i) (void)pool.running(TypedPool::typed("speech", 4 / jobs, {"new", "cpu"}));
  REQUIRE(pool.held_of("speech", "new") == 4);
  pool.end(guest);
  const JobId claim = pool.submit(TypedPool::typed("vision", claimed));
  pool.story.decide();
  for (const int seconds : {60, 600}) {
    pool.story.pass(Duration::seconds(seconds));
    pool.settle_all();
  }
  CHECK(pool.story.job(claim).size() == claimed);
  CHECK(pool.held_of("speech", "cpu") == (jobs == 1 ? 4 : claimed));
}

TEST_CASE(
    "a job on a type of which its tenant has no part counts for nothing in what that is entitled to until it has "
    "left") {
  TypedPool pool({guaranteed("vision", 4, 4), {.name = "speech"}, {.name = "guests"}}, 4, "las");
  pool.node_of("third", 1);  // else that of speech would take any
  const JobId guest = pool.running(TypedPool::typed("guests", 4, {"cpu"}));
  (void)pool.running(TypedPool::typed("speech", 4, {"new", "cpu"}));
  REQUIRE(pool.held_of("speech", "new") == 4);
  pool.end(guest);
  CHECK(pool.plan("speech").entitled == 4);
  (void)pool.submit(TypedPool::typed("vision", 4));
  pool.story.decide();
  CHECK(pool.held_of("speech", "new") == 4);
  CHECK(pool.entitled_to("speech") == 0);
  CHECK(pool.plan("speech").wanted_in_all() == 4);
  for (const int seconds : {60, 600}) {
    pool.story.pass(Duration::seconds(seconds));
    pool.settle_all();
  }
  REQUIRE(pool.held_of("speech", "cpu") == 4);
  CHECK(pool.plan("speech").entitled == 4);
}

TEST_CASE("jobs that list several types stay on the one that their own tenant is guaranteed") {
  TypedPool pool({guaranteed("vision", 4, 2), guaranteed("speech", 2, 2), {.name = "guests"}}, 4, "las");
  pool.node_of("third", 1);
  const JobId before = pool.running(TypedPool::typed("guests", 4, {"cpu"}));
  for (int i = 0; i < 2; ++i) (void)pool.running(TypedPool::typed("guests", 1, {"new", "cpu"}));
  pool.story.pass(Duration::seconds(3600));
  for (int i = 0; i < 2; ++i) (void)pool.running(TypedPool::typed("speech", 1, {"new", "cpu"}));
  pool.end(before);
  REQUIRE(pool.held_of("guests", "new") == 2);
  REQUIRE(pool.held_of("speech", "new") == 2);
  (void)pool.submit(TypedPool::typed("vision", 2));
  pool.settle_all();
  CHECK(pool.held_of("vision", "new") == 2);
  CHECK(pool.held_of("speech", "new") == 2);
}

TEST_CASE("a large job that lists several types gives way where small ones before it are not enough") {
  TypedPool pool({guaranteed("vision", 2, 2), guaranteed("speech", 1, 1), {.name = "guests"}}, 3, "las");
  pool.node_of("third", 1);
  const JobId before = pool.running(TypedPool::typed("guests", 3, {"cpu"}));
  core::JobSpec spec = TypedPool::typed("speech", 1, {"new", "cpu"});
  spec.gpus_per_worker = 2;
  const JobId large = pool.running(spec);
  const JobId small = pool.running(TypedPool::typed("speech", 1, {"new", "cpu"}));  // newer, so it is the first to go
  pool.end(before);
  REQUIRE(pool.held_of("speech", "new") == 2);  // workers
  const JobId claim = pool.submit(TypedPool::typed("vision", 2));
  pool.settle_all();
  CHECK(pool.story.job(claim).size() == 2);
  CHECK(pool.story.job(small).size() + pool.story.job(large).size() == 2);
  CHECK(pool.held_of("speech", "new") == 1);
}

TEST_CASE("of two gangs that each need all slots of a type one runs") {
  TypedPool pool({{.name = "vision"}, {.name = "speech"}});
  const JobId first = pool.running(TypedPool::typed("vision", 4));
  const JobId second = pool.submit(TypedPool::typed("speech", 4));
  for (int i = 0; i < 3; ++i) CHECK(preempted_in(pool.story.decide()) == 0);
  CHECK(pool.story.job(first).size() == 4);
  CHECK(pool.story.job(second).size() == 0);
}

}  // namespace tidepool::test
