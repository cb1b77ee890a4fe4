// tidal as a whole: its answers keep the laws, do not depend on the order of rows, and are the same whether rows came
// one by one or all at once.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>

#include "base/rng.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/tidal/promises.hpp"
#include "policies/tidal/tidal.hpp"
#include "policies/tidal/type_market.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::Allocation;
using cluster::JobRow;
using cluster::Shape;
using cluster::View;

class Amdahl final : public cluster::SpeedModel {
 public:
  explicit Amdahl(Rng& rng) : serial_(rng.uniform() * 0.4), hop_(rng.chance(0.5) ? 0 : rng.uniform() * 0.3) {}
  [[nodiscard]] double step_seconds(Shape shape) const override {
    return serial_ + (1 - serial_) / shape.size + hop_ * (shape.nodes - 1);
  }

 private:
  double serial_;
  double hop_;
};

struct World {
  View view;
  std::vector<std::unique_ptr<Amdahl>> speeds;
  std::vector<std::unique_ptr<core::ScalingSpec>> asked;
};

const core::ScalingSpec* random_utility(World& world, Rng& rng) {
  auto& asked = *world.asked.emplace_back(std::make_unique<core::ScalingSpec>());
  const Duration first = Duration::seconds(rng.between(0, 80'000));
  const Duration second = first + Duration::seconds(rng.between(1, 40'000));
  if (rng.chance(0.5)) {
    asked.linear_utility = core::LinearUtility{.value = rng.exponential(50), .zero_at = second};
  } else {
    const double value = rng.exponential(50);
    asked.piecewise_utility = core::PiecewiseUtility{{{first, value}, {second, -value}}};
    const Duration last = second + Duration::seconds(rng.between(1, 40'000));
    if (rng.chance(0.5)) asked.piecewise_utility->points.push_back({last, -value - 1});
  }
  return &asked;
}

JobRow random_job(std::uint64_t id, World& world, Rng& rng) {
  JobRow job;
  job.id = JobId(id);
  job.submitted = Instant::from_micros(rng.between(0, 50'000) * 1'000'000);
  job.weight = rng.chance(0.2) ? 4 : 1;
  job.speed = world.speeds.emplace_back(std::make_unique<Amdahl>(rng)).get();
  job.size_max = static_cast<int>(rng.between(1, 24));
  if (rng.chance(0.3)) job.size_min = static_cast<int>(rng.between(1, job.size_max));
  job.largest_seen = static_cast<int>(rng.between(0, 24));
  job.transition = Duration::seconds(rng.between(0, 60));
  job.slot_seconds = rng.exponential(20'000);
  if (rng.chance(0.4)) job.useful_left = rng.exponential(5'000);
  if (rng.chance(0.4)) job.useful_expected = rng.exponential(5'000);
  if (rng.chance(0.4)) job.scaling = random_utility(world, rng);
  job.slot_price = 2;
  return job;
}

World random_world(Rng& rng) {
  World world;
  world.view.now = Instant::from_micros(60'000'000'000);
  const auto nodes = rng.between(1, 10);
  std::vector<int> free;
  for (std::int64_t i = 1; i <= nodes; ++i) {
    free.push_back(static_cast<int>(rng.between(1, 8)));
    world.view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = free.back()});
  }
  const auto jobs = rng.below(40);
  for (std::uint64_t i = 1; i <= jobs; ++i) {
    JobRow job = random_job(i, world, rng);
    for (std::size_t node = 0; node < free.size() && rng.chance(0.5); ++node) {
      const auto slots = static_cast<int>(rng.between(0, std::min(free[node], job.size_max - size_of(job.placement))));
      if (slots == 0) continue;
      job.placement.push_back({.node = static_cast<int>(node), .slots = slots});
      free[node] -= slots;
    }
    job.held = Duration::seconds(job.placement.empty() ? 0 : rng.between(0, 10'000));
    job.resize_blocked = rng.chance(0.1);
    job.preemptible = rng.chance(0.9);
    world.view.jobs.push_back(std::move(job));
  }
  return world;
}

Allocation decide(const View& view) {
  core::StepBudget budget(100'000'000);
  return Tidal().allocate(view, budget);
}

void check_laws(const View& view, const Allocation& allocation) {
  const Status sizes = check_allocation(view, allocation);
  INFO((sizes.ok() ? "" : sizes.error().message));
  REQUIRE(sizes.ok());
  const Status laid = check_placements(view, allocation, allocation.placements);
  INFO((laid.ok() ? "" : laid.error().message));
  REQUIRE(laid.ok());
  CHECK(allocation.worth <= allocation.bound);
}

}  // namespace

TEST_CASE(
    "sizes and places keep the laws, a job that cannot change keeps its size, and the worth is at most the bound") {
  test::for_each_seed("tidal laws", 300, [](std::uint64_t, Rng& rng) {
    const World world = random_world(rng);
    const Allocation allocation = decide(world.view);
    check_laws(world.view, allocation);
    for (std::size_t row = 0; row < world.view.jobs.size(); ++row) {
      const JobRow& job = world.view.jobs[row];
      if (job.resize_blocked) CHECK(allocation.placements[row] == job.placement);
      if (!job.preemptible && !job.placement.empty()) CHECK(allocation.grants[row].size > 0);
    }
  });
}

TEST_CASE("one type that has a name, or a deadline without known work, changes nothing") {
  test::for_each_seed("tidal plain", 100, [](std::uint64_t, Rng& rng) {
    World world = random_world(rng);
    const Allocation plain = decide(world.view);
    world.view.types = {{.name = "only"}};
    for (JobRow& job : world.view.jobs) {
      if (!job.useful_left) job.deadline = world.view.now + Duration::seconds(rng.between(-100, 10'000));
    }
    const Allocation named = decide(world.view);
    CHECK(named.placements == plain.placements);
    CHECK(named.worth == plain.worth);
    CHECK(named.bound == plain.bound);
    CHECK(!named.wake);
    for (const cluster::Grant& grant : named.grants) CHECK(!grant.declined);
  });
}

TEST_CASE("on several types sizes and places keep the laws, and the worth is at most the bound") {
  test::for_each_seed("tidal types", 200, [](std::uint64_t, Rng& rng) {
    World world = random_world(rng);
    world.view.types = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    for (cluster::NodeRow& node : world.view.nodes) node.type = static_cast<int>(rng.below(3));
    for (JobRow& job : world.view.jobs) {
      // What a job holds is of one type.
      const auto other = [&](const cluster::Share& share) {
        const auto type_of = [&](int at) { return world.view.nodes[static_cast<std::size_t>(at)].type; };
        return type_of(share.node) != type_of(job.placement.front().node);
      };
      if (std::any_of(job.placement.begin(), job.placement.end(), other)) job.placement.clear();
    }
    const Allocation allocation = decide(world.view);
    check_laws(world.view, allocation);
    for (std::size_t row = 0; row < world.view.jobs.size(); ++row) {
      const JobRow& job = world.view.jobs[row];
      if (job.resize_blocked && !job.placement.empty()) CHECK(allocation.placements[row] == job.placement);
      if (!job.preemptible && !job.placement.empty()) CHECK(allocation.grants[row].size > 0);
    }
  });
}

namespace {

// The most that any choice can be worth.
double best_worth(const std::vector<TypedBid>& bids, std::vector<int>& free, std::size_t job) {
  if (job == bids.size()) return 0;
  double best = best_worth(bids, free, job + 1);
  for (std::size_t type = 0; type < bids[job].size(); ++type) {
    for (const Choice& choice : bids[job][type]) {
      if (choice.size == 0 || choice.size > free[type]) continue;
      free[type] -= choice.size;
      best = std::max(best, choice.worth + best_worth(bids, free, job + 1));
      free[type] += choice.size;
    }
  }
  return best;
}

// Some choice for which there is room is worth more to the job than what it was sold.
bool gains_by_what_is_left(const TypedBid& bid, const TypeSale& sale, std::size_t job) {
  const TypedChoice& sold = sale.choices[job];
  for (std::size_t type = 0; type < bid.size(); ++type) {
    const int own = sold.type == static_cast<int>(type) ? sold.choice.size : 0;
    for (const Choice& choice : bid[type]) {
      if (choice.worth > sold.choice.worth && choice.size - own <= sale.free[type]) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("the bound of the market of types is never below the best choice, nor the best below what was sold") {
  double sold = 0;
  double possible = 0;
  test::for_each_seed("type market", 200, [&](std::uint64_t, Rng& rng) {
    std::vector<int> slots;
    for (std::uint64_t type = 0; type < 1 + rng.below(3); ++type) slots.push_back(static_cast<int>(rng.between(0, 6)));
    std::vector<TypedBid> bids;
    for (std::uint64_t job = 0; job < rng.below(6); ++job) {
      TypedBid& bid = bids.emplace_back();
      for (std::size_t type = 0; type < slots.size(); ++type) {
        Curve& curve = bid.emplace_back(Curve{{}});
        for (int size = 1; size <= 4; size *= 2) {
          if (rng.chance(0.8)) curve.push_back({.size = size, .worth = rng.uniform() * 10});
        }
      }
    }
    core::StepBudget budget(1'000'000);
    const TypeSale sale = sell(bids, slots, budget);
    const double best = best_worth(bids, slots, 0);
    CHECK(sale.bound >= best - 1e-9);
    CHECK(sale.worth <= best + 1e-9);
    for (std::size_t type = 0; type < slots.size(); ++type) CHECK(sale.free[type] >= 0);
    for (std::size_t job = 0; job < bids.size(); ++job) CHECK_FALSE(gains_by_what_is_left(bids[job], sale, job));
    sold += sale.worth;
    possible += best;
  });
  // Not always the best, but nearly so.
  CHECK(sold >= 0.95 * possible);
}

TEST_CASE("an accepted job ends in time as planned: promises add up, and only new jobs are declined") {
  test::for_each_seed("tidal promises", 150, [](std::uint64_t, Rng& rng) {
    World world = random_world(rng);
    for (JobRow& job : world.view.jobs) {
      if (job.useful_left) job.deadline = world.view.now + Duration::seconds(rng.between(-100, 20'000));
      if (job.held > Duration()) job.mark.level = kAccepted;
    }
    core::StepBudget budget(100'000'000);
    const Promises promises = promises_of(world.view, budget);
    if (promises.none()) return;
    const Allocation allocation = decide(world.view);
    const Status lawful = check_allocation(world.view, allocation);
    INFO((lawful.ok() ? "" : lawful.error().message));
    REQUIRE(lawful.ok());
    int promised = 0;
    for (std::size_t row = 0; row < world.view.jobs.size(); ++row) {
      const JobRow& job = world.view.jobs[row];
      promised += promises.sizes[row];
      CHECK(allocation.grants[row].declined == promises.declined[row]);
      if (promises.declined[row]) {
        CHECK(job.mark.level != kAccepted);
        CHECK(job.deadline.has_value());
      }
      if (promises.accepted[row]) CHECK(allocation.grants[row].mark.level == kAccepted);
    }
    CHECK(promised <= world.view.slots());
  });
}

TEST_CASE("the order of rows changes nothing") {
  test::for_each_seed("tidal permutation", 150, [](std::uint64_t, Rng& rng) {
    World world = random_world(rng);
    std::map<JobId, int> sizes;
    const auto tide_of = [](const View& view) {
      auto market_state = std::make_unique<MarketState>(pool_of(view));
      for (const JobRow& job : view.jobs) market_state->put(job, view.now);
      core::StepBudget budget(100'000'000);
      (void)market_state->settle(view.now, budget);
      return market_state;
    };
    const auto before = tide_of(world.view);
    rng.shuffle(world.view.jobs);
    const auto after = tide_of(world.view);
    for (const JobRow& job : world.view.jobs) {
      REQUIRE(before->market().choice(job.id) == after->market().choice(job.id));
    }
  });
}

namespace {

// What a market state was told of a job.
struct Told {
  JobRow row;
  Instant at;
  int promised = 0;
};

// One of the world's jobs as it may be later: it has gone on, was served or lost what it held, was promised something
// or not.
Told told_later(const JobRow& job, Instant now, Rng& rng) {
  Told told{.row = job, .at = now};
  told.row.slot_seconds += rng.exponential(5'000);
  if (told.row.useful_left) told.row.useful_left = rng.exponential(5'000);
  if (rng.chance(0.5)) told.row.placement.clear();
  told.row.held += Duration::seconds(rng.between(0, 5'000));
  if (rng.chance(0.2)) told.promised = static_cast<int>(rng.between(1, job.size_max));
  return told;
}

// A market state and all that it has been told, so that a new one can be told the same.
struct Kept {
  SlotPool pool;
  MarketState market_state;
  std::map<JobId, Told> rows;
  std::map<JobId, int> sizes;  // as of the last settlement

  explicit Kept(const SlotPool& on) : pool(on), market_state(on) {}

  void change(const World& world, Instant now, Rng& rng) {
    if (rng.chance(0.1)) {
      pool.slots = static_cast<int>(rng.between(0, 60));
      if (rng.chance(0.5)) pool.slots_per_node = 1 << rng.between(0, 3);
      market_state.set_pool(pool);
    } else if (!rows.empty() && rng.chance(0.3)) {
      const JobId gone = std::next(rows.begin(), static_cast<std::ptrdiff_t>(rng.below(rows.size())))->first;
      rows.erase(gone);
      market_state.leave(gone);
    } else if (!world.view.jobs.empty()) {
      const Told told = told_later(world.view.jobs[rng.below(world.view.jobs.size())], now, rng);
      rows[told.row.id] = told;
      market_state.put(told.row, told.at, told.promised);
    }
  }
  void settle_as_a_new_one(Instant now) {
    core::StepBudget budget(100'000'000);
    const Market::Settlement settled = market_state.settle(now, budget);
    MarketState scratch(pool);
    for (const auto& [id, told] : rows) scratch.put(told.row, told.at, told.promised);
    REQUIRE(scratch.settle(now, budget).price == settled.price);
    for (const auto& [id, told] : rows) {
      REQUIRE(scratch.market().curve(id) == market_state.market().curve(id));
      REQUIRE(scratch.market().choice(id) == market_state.market().choice(id));
      const int size = market_state.market().choice(id).size;
      if (!sizes.contains(id) || sizes[id] != size) REQUIRE(settled.changed.contains(id));
    }
    sizes.clear();
    for (const auto& [id, told] : rows) sizes[id] = market_state.market().choice(id).size;
  }
};

}  // namespace

TEST_CASE("rows that come one by one give what they give at once, however long the others have waited") {
  test::for_each_seed("tide incremental", 100, [](std::uint64_t, Rng& rng) {
    const World world = random_world(rng);
    Kept kept(pool_of(world.view));
    Instant now = world.view.now;
    for (int change = 0; change < 60; ++change) {
      now = now + Duration::seconds(rng.between(0, 600));
      kept.change(world, now, rng);
      if (!rng.chance(0.3)) kept.settle_as_a_new_one(now);
    }
  });
}

}  // namespace tidepool::policies::tidal
