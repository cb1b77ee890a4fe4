// Prices that operators list: the microsecond at which one changes, what is charged, and what goes by it: caps,
// budgets, pools.
#include <algorithm>

#include <catch2/catch.hpp>

#include "base/accrual.hpp"
#include "base/rng.hpp"
#include "core/engine/engine.hpp"
#include "core/explain/explain.hpp"
#include "core/state/account.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

using core::BudgetAction;

constexpr Duration kHour = Duration::seconds(3600);

// Everything costs so much from then on, in millionths; the story begins in 1970, a second after midnight.
PriceEntry from(Instant at, std::int64_t micros) {
  return {.from_us = at.count_us(), .price = Money::micros(micros)};
}
PriceList for_all(std::vector<PriceEntry> entries) {
  return {{{.name = "all", .entries = std::move(entries)}}};
}

struct PricedPool : SharedPool {
  explicit PricedPool(std::vector<core::Tenant> tenants = {}, const char* policy = "tidal")
      : SharedPool(std::move(tenants)) {
    story.engine() = core::Engine(parts_of(policy), story.state());
  }
  void list(PriceList list) { story.learn(core::PricesConfigured{std::move(list)}); }
  void clock_at(Instant at) {
    story.pass(at - story.now());
    story.learn(core::ClockAdvanced{});
  }
  [[nodiscard]] Money node_price() const { return story.state().find_node(NodeId(1))->price_per_slot_hour; }
  [[nodiscard]] core::Job charged(JobId id) const {
    core::Job job = story.job(id);
    core::charge(story.state(), job, story.now());
    return job;
  }
};

}  // namespace

TEST_CASE("pricing nodes one by one, as they come, change and go, comes to what pricing all of them does") {
  Rng rng(5);
  PricedPool pool;
  Story& story = pool.story;
  pool.list({{{.name = "racks", .labels = {{"rack", "r1"}}, .entries = {{.price = Money::micros(3'000'000)}}},
              {.name = "fast", .slot_type = "fast", .entries = {{.price = Money::micros(5'000'000)}}}}});
  std::size_t listed = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "x" + std::to_string(rng.below(6));
    const NodeId id = story.engine().node_id_for(name);
    const bool is_known = story.state().find_node(id) != nullptr;
    if (!is_known || rng.chance(0.4)) {
      const Money own = Money::micros(rng.between(1, 3) * 1'000'000);
      story.learn(core::NodeJoined{id, name, 2, rng.chance(0.3) ? "fast" : "cpu", own, {}});
    } else if (rng.chance(0.7)) {
      const auto rack = rng.chance(0.3) ? std::nullopt : std::optional<std::string>(rng.chance(0.5) ? "r1" : "r2");
      story.learn(core::NodeLabelled{id, {{"rack", rack}}});
    } else {
      story.learn(core::NodeLost{id, "no heartbeat"});
    }
    const core::ClusterState before = story.state();
    story.learn(core::UtcSet{before.utc_us_at_zero});  // prices all nodes
    REQUIRE(*story.state().prices == *before.prices);
    for (const auto& [node, found] : story.state().nodes) {
      REQUIRE(found.price_per_slot_hour == before.find_node(node)->price_per_slot_hour);
    }
    listed = std::max(listed, before.prices->nodes.size());
  }
  CHECK(listed >= 3);
}

TEST_CASE("a price takes effect at its very microsecond, however late a fact tells that it has passed") {
  for (const bool is_late : {false, true}) {
    INFO(is_late);
    PricedPool pool;
    const JobId job = pool.running("demo", 2);
    const Instant began = pool.story.now();
    Money cost = pool.charged(job).account.cost;
    std::int64_t remainder = pool.charged(job).account.cost_remainder;
    const Instant change = began + Duration::micros(7'000'001);
    pool.list(for_all({from(change, 3'000'000), from(change + kHour, 500'000)}));
    CHECK(pool.node_price() == Money::micros(1'000'000));
    CHECK(pool.story.engine().clock_due() == change);
    if (!is_late) {
      pool.clock_at(change);
      CHECK(pool.node_price() == Money::micros(3'000'000));
      CHECK(pool.story.engine().clock_due() == change + kHour);
      pool.clock_at(change + kHour);
    }
    pool.clock_at(change + kHour * 2);
    CHECK(pool.story.count("prices.changed") == 2);
    CHECK_FALSE(pool.story.engine().clock_due());
    accrue(Money::micros(2'000'000), change - began, cost, remainder);
    accrue(Money::micros(6'000'000), kHour, cost, remainder);
    accrue(Money::micros(1'000'000), kHour, cost, remainder);
    CHECK(pool.charged(job).account.cost == cost);
    CHECK(pool.charged(job).account.cost_remainder == remainder);
  }
}

TEST_CASE("the first rule that names a node sets its price, with its discount where the node is spot") {
  PricedPool pool;
  const Instant now = pool.story.now();
  PriceList list{{{.name = "fast", .slot_type = "gpu", .entries = {from(now, 9'000'000)}},
                  {.name = "later", .entries = {from(now + kHour, 8'000'000)}},
                  {.name = "rack", .labels = {{"rack", "r1"}}, .entries = {from(now, 5'000'000)}},
                  {.name = "cpu", .slot_type = "cpu", .spot_discount = 60, .entries = {from(now, 2'000'000)}}}};
  pool.list(list);
  CHECK(pool.node_price() == Money::micros(2'000'000));
  CHECK(pool.story.state().prices->nodes.at(NodeId(1)).rule == "cpu");
  CHECK(pool.story.state().prices->nodes.at(NodeId(1)).own == Money::micros(1'000'000));
  pool.story.learn(core::NodeLabelled{NodeId(1), {{"spot", "true"}}});
  CHECK(pool.node_price() == Money::micros(800'000));
  pool.story.learn(core::NodeLabelled{NodeId(1), {{"rack", "r1"}}});
  CHECK(pool.node_price() == Money::micros(5'000'000));
  // A node that joins has its price at once, and keeps its own for when there is no list.
  const NodeId other = pool.story.node(2, "other", {}, Money::micros(1'500'000));
  CHECK(pool.story.state().find_node(other)->price_per_slot_hour == Money::micros(2'000'000));
  pool.clock_at(now + kHour);
  CHECK(pool.node_price() == Money::micros(8'000'000));
  pool.list({});
  CHECK(pool.node_price() == Money::micros(1'000'000));
  CHECK(pool.story.state().find_node(other)->price_per_slot_hour == Money::micros(1'500'000));
  CHECK(pool.story.count("prices.configured") == 2);
  CHECK(pool.story.learn(core::PricesConfigured{}).empty());
  CHECK_THAT(pool.story.refuses(core::PricesConfigured{{{{.name = "none"}}}}), Catch::Contains("it needs a price"));
}

TEST_CASE("a budget is spent in the microsecond that the prices to come say") {
  core::Tenant vision{.name = "vision", .guarantee = 8};
  vision.budget = {.limit = Money::micros(4'000'000),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{100, BudgetAction::kPause}}};
  PricedPool pool({vision});
  const JobId job = pool.running("vision", 2);
  const Instant began = pool.story.job(job).last_start_at.value();
  pool.list(for_all({from(began + kHour, 3'000'000)}));
  // Two dollars in the first hour, and the other two at six an hour.
  pool.clock_at(began + kHour);
  const Instant spent_at = began + kHour + Duration::seconds(1200);
  CHECK(pool.story.engine().clock_due() == spent_at);
  pool.clock_at(spent_at - Duration::micros(1));
  CHECK(pool.story.count("budget.reached") == 0);
  pool.clock_at(spent_at);
  CHECK(pool.story.last("budget.reached").data.at("spent") == "4.00");
  CHECK(names_of(pool.story.decide()) == "preempt");
}

TEST_CASE("a window of a budget that ends before a price changes is told at the price of its time") {
  core::Tenant vision{.name = "vision", .guarantee = 8};
  vision.budget = {.limit = Money::micros(1'000'000'000),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{100, BudgetAction::kPause}}};
  PricedPool pool({vision});
  const JobId job = pool.running("vision", 2);
  const Instant began = pool.story.job(job).last_start_at.value();
  const Instant midnight = Instant::from_micros(24 * kHour.count_us());
  pool.list(for_all({from(midnight + kHour, 5'000'000)}));
  pool.clock_at(midnight + kHour * 3);
  CHECK(pool.story.last("budget.renewed").data.at("spent") ==
        to_text(cost_of(Money::micros(1'000'000), 2, midnight - began)));
  core::BudgetAccount account = pool.story.state().budgets.at("vision");
  core::count_until(account, pool.story.now());
  CHECK(account.spent == Money::micros(2'000'000 + 20'000'000));
  CHECK(account.rate == Money::micros(10'000'000));
}

TEST_CASE("a price cap takes workers when slots become dearer, and lets a job start when they become cheaper") {
  for (const char* policy : {"tidal", "fifo", "fixed", "autoscaling_engine"}) {
    INFO(policy);
    PricedPool pool({}, policy);
    const Instant dear = pool.story.now() + kHour;
    const Instant cheap = dear + kHour;
    pool.list(for_all({from(dear, 2'000'000), from(cheap, 250'000)}));
    core::JobSpec spec = SharedPool::spec("demo", 4);
    spec.elastic.min = 1;
    spec.elastic.sizes = {1, 2, 3, 4};
    spec.elastic.preferred = 4;
    spec.elastic.cooldown = Duration();
    spec.scaling.price_cap = Money::micros(4'000'000);
    const JobId running = pool.submit(spec);
    pool.story.settle(running);
    REQUIRE(pool.story.job(running).size() == 4);
    core::JobSpec poor = SharedPool::spec("demo", 1);
    poor.scaling.price_cap = Money::micros(300'000);
    const JobId waiting = pool.submit(poor);
    pool.settle_all();
    REQUIRE(pool.story.job(waiting).size() == 0);
    CHECK(says<core::reason::PriceCap>(pool.story.job(waiting).verdict.reason));
    pool.clock_at(dear);
    pool.settle_all();
    CHECK(pool.story.job(running).size() == 2);
    CHECK(pool.story.job(waiting).size() == 0);
    pool.clock_at(cheap);
    pool.settle_all();
    CHECK(pool.story.job(waiting).size() == 1);
  }
}

TEST_CASE("a running job whose smallest size costs more than its price cap keeps it, and says so") {
  PricedPool pool;
  core::JobSpec spec = SharedPool::spec("demo", 2);
  spec.elastic.min = 1;
  spec.elastic.sizes = {1, 2};
  spec.elastic.preferred = 2;
  spec.elastic.cooldown = Duration();
  spec.scaling.price_cap = Money::micros(4'000'000);
  const JobId id = pool.submit(spec);
  pool.story.settle(id);
  REQUIRE(pool.story.job(id).size() == 2);
  const auto told = [&] {
    std::vector<std::string> lines = core::explain(pool.story.state(), id).evidence;
    std::erase_if(lines, [](const std::string& line) { return line.find("price cap") == std::string::npos; });
    return lines;
  };
  CHECK(told().empty());
  const Instant dear = pool.story.now() + kHour;
  pool.list(for_all({from(dear, 5'000'000)}));
  pool.clock_at(dear);
  CHECK(told() == std::vector<std::string>{"its slots cost 10.00 an hour, above its price cap of 4.00"});
  pool.settle_all();
  CHECK(pool.story.job(id).size() == 1);
  CHECK(told() == std::vector<std::string>{
                      "its slots cost 5.00 an hour, above its price cap of 4.00; it keeps its smallest size"});
}

TEST_CASE("a job with a price cap has the nodes that are within it, and no plan keeps dearer ones for it") {
  for (const char* policy : {"tidal", "elastic_tiresias", "fifo", "fixed", "autoscaling_engine"}) {
    INFO(policy);
    SharedPool pool({}, 2, policy);  // a slot costs a dollar
    const NodeId dear = pool.story.node(4, "dear", {}, Money::micros(9'000'000));
    core::JobSpec capped = SharedPool::spec("demo", 4);
    capped.elastic.min = 1;
    capped.elastic.sizes = {1, 2, 3, 4};
    capped.elastic.cooldown = Duration();
    capped.scaling.price_cap = Money::micros(4'000'000);
    const JobId job = pool.submit(capped);
    const JobId other = pool.submit(SharedPool::spec("demo", 4));
    pool.settle_all();
    CHECK(pool.story.job(job).size() > 0);
    for (const NodeId node : pool.story.nodes_of(job)) CHECK(node != dear);
    CHECK(pool.story.job(other).size() == 4);
  }
}

TEST_CASE("slots that no cap would let a job have are kept for it by no plan") {
  for (const char* policy : {"tidal", "elastic_tiresias", "fifo", "fixed", "autoscaling_engine"}) {
    INFO(policy);
    PricedPool pool({}, policy);
    core::JobSpec hog = SharedPool::spec("demo", 4);
    hog.elastic.min = 4;
    hog.elastic.sizes = {4};
    hog.scaling.price_cap = Money::micros(10'000);
    const JobId capped = pool.submit(hog);
    const JobId small = pool.submit(SharedPool::spec("demo", 1));
    pool.settle_all();
    CHECK(pool.story.job(small).size() == 1);
    CHECK(pool.story.job(capped).size() == 0);
    CHECK_THAT(core::sentence(pool.story.job(capped).verdict.reason),
               Catch::Contains("4 an hour, above its price cap of 0.01"));
  }
}

TEST_CASE("a corrected clock moves the hours at which prices change, and charges nothing twice") {
  PricedPool pool;
  const JobId job = pool.running("demo", 2);
  const Instant change = Instant::from_micros(12 * kHour.count_us());
  pool.list(for_all({from(change, 4'000'000)}));
  const Instant now = pool.story.now();
  const Money so_far = pool.charged(job).account.cost;
  pool.story.learn(core::UtcSet{kHour.count_us()});
  CHECK(pool.story.engine().clock_due() == change - kHour);
  pool.clock_at(change - kHour);
  CHECK(pool.node_price() == Money::micros(4'000'000));
  // Set back: the old price holds again, from now on.
  pool.story.learn(core::UtcSet{0});
  CHECK(pool.node_price() == Money::micros(1'000'000));
  CHECK(pool.story.engine().clock_due() == change);
  const Money at_old = cost_of(Money::micros(1'000'000), 2, change - kHour - now);
  const Money more = pool.charged(job).account.cost - so_far;
  CHECK(more >= at_old);
  CHECK(more <= at_old + Money::micros(1));
}

}  // namespace tidepool::test
