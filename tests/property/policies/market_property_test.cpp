// The market for slots: its state follows from the bids alone, whatever the order in which they came; its price and its
// worth move the way prices and worths must; and its bound bounds.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "base/rng.hpp"
#include "policies/tidal/market.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::tidal {
namespace {

using Bids = std::map<JobId, Curve>;

constexpr std::int64_t kEnough = 10'000'000;

// Neither concave nor always rising; now and then a job that must have something.
Curve random_curve(Rng& rng) {
  Curve curve{{.size = rng.chance(0.1) ? static_cast<int>(rng.between(1, 3)) : 0, .worth = 0}};
  const auto choices = rng.between(0, 6);
  for (std::int64_t i = 0; i < choices; ++i) {
    const int size = curve.back().size + static_cast<int>(rng.between(1, rng.chance(0.3) ? 8 : 2));
    // Few different values, so that ties happen.
    curve.push_back({.size = size, .worth = std::max(0.0, curve.back().worth + double(rng.between(-1, 4)) * 0.5)});
  }
  return curve;
}

Market from_scratch(const Bids& bids, std::int64_t slots, Rng* rng = nullptr) {
  Market market(slots);
  std::vector<std::pair<JobId, Curve>> all(bids.begin(), bids.end());
  if (rng != nullptr) rng->shuffle(all);
  market.bid(std::move(all));
  core::StepBudget budget(kEnough);
  (void)market.settle(budget);
  return market;
}

Bids random_bids(Rng& rng, std::int64_t jobs) {
  Bids bids;
  for (std::int64_t i = 1; i <= jobs; ++i) bids[JobId(static_cast<std::uint64_t>(i))] = random_curve(rng);
  return bids;
}

std::int64_t least_slots(const Bids& bids) {
  std::int64_t least = 0;
  for (const auto& [job, curve] : bids) least += curve.front().size;
  return least;
}

// The best sum of worth by dynamic programming over all slots.
double best_worth(const Bids& bids, std::int64_t slots) {
  const auto capacity = static_cast<std::size_t>(slots);
  std::vector<double> best(capacity + 1, 0);
  for (const auto& [job, curve] : bids) {
    std::vector<double> next(capacity + 1, -1e300);
    for (std::size_t have = 0; have <= capacity; ++have) {
      for (const Choice& choice : curve) {
        const auto size = static_cast<std::size_t>(choice.size);
        if (size <= have) next[have] = std::max(next[have], best[have - size] + choice.worth);
      }
    }
    best = next;
  }
  return best[capacity];
}

}  // namespace

TEST_CASE("after any sequence of changes the market answers as one built from scratch, and names the changed jobs") {
  test::for_each_seed("market incremental", 200, [](std::uint64_t, Rng& rng) {
    std::int64_t slots = rng.between(0, 60);
    Market market(slots);
    Bids bids;
    std::map<JobId, int> sizes;
    for (int change = 0; change < 60; ++change) {
      const JobId job(static_cast<std::uint64_t>(rng.between(1, 25)));
      if (rng.chance(0.1)) {
        market.set_slots(slots = rng.between(0, 60));
      } else if (rng.chance(0.3)) {
        market.leave(job);
        bids.erase(job);
      } else if (rng.chance(0.2)) {
        // Few or many at once, some of them as before.
        std::vector<std::pair<JobId, Curve>> some;
        for (std::uint64_t id = 1; id <= 25; ++id) {
          if (!rng.chance(rng.chance(0.5) ? 0.1 : 0.8)) continue;
          if (!bids.contains(JobId(id)) || rng.chance(0.5)) bids[JobId(id)] = random_curve(rng);
          some.emplace_back(JobId(id), bids[JobId(id)]);
        }
        market.bid(std::move(some));
      } else {
        bids[job] = random_curve(rng);
        market.bid(job, bids[job]);
      }
      if (rng.chance(0.3)) continue;
      core::StepBudget budget(kEnough);
      const Market::Settlement settled = market.settle(budget);
      const Market scratch = from_scratch(bids, slots, &rng);
      REQUIRE(settled.price == scratch.price());
      REQUIRE(market.worth() == scratch.worth());
      REQUIRE(market.bound() == scratch.bound());
      for (const auto& [id, curve] : bids) {
        REQUIRE(market.choice(id) == scratch.choice(id));
        const bool named = settled.changed.contains(id);
        if (!sizes.contains(id) || sizes[id] != market.choice(id).size) REQUIRE(named);
      }
      for (const auto& [id, size] : sizes) {
        if (!bids.contains(id)) REQUIRE(settled.changed.contains(id));
      }
      sizes.clear();
      for (const auto& [id, curve] : bids) sizes[id] = market.choice(id).size;
    }
  });
}

TEST_CASE("no slot is sold twice, and the worth lies between none and the bound, which the best choice obeys too") {
  test::for_each_seed("market bound", 300, [](std::uint64_t, Rng& rng) {
    const Bids bids = random_bids(rng, rng.between(0, 12));
    const std::int64_t slots = least_slots(bids) + rng.between(0, 30);
    const Market market = from_scratch(bids, slots);
    std::int64_t used = 0;
    for (const auto& [job, curve] : bids) used += market.choice(job).size;
    REQUIRE(used <= slots);
    const double best = best_worth(bids, slots);
    CHECK(market.worth() <= best + 1e-9);
    CHECK(best <= market.bound() + 1e-9);
  });
}

TEST_CASE("a further bid never lowers the price, a further slot never raises it") {
  test::for_each_seed("market price", 300, [](std::uint64_t, Rng& rng) {
    Bids bids = random_bids(rng, rng.between(0, 20));
    const std::int64_t slots = least_slots(bids) + rng.between(0, 40);
    const double price = from_scratch(bids, slots).price();
    CHECK(from_scratch(bids, slots + 1).price() <= price);
    bids[JobId(1'000)] = random_curve(rng);
    CHECK(from_scratch(bids, slots).price() >= price);
  });
}

TEST_CASE("more slots never lower the worth that is reached") {
  test::for_each_seed("market worth", 300, [](std::uint64_t, Rng& rng) {
    const Bids bids = random_bids(rng, rng.between(1, 15));
    double worth = 0;
    for (std::int64_t slots = least_slots(bids); slots < least_slots(bids) + 30; ++slots) {
      const double now = from_scratch(bids, slots).worth();
      REQUIRE(now >= worth - 1e-9);
      worth = now;
    }
  });
}

TEST_CASE("ordered pieces: a treap answers as a sorted list, built at once or piece by piece") {
  test::for_each_seed("ordered pieces", 200, [](std::uint64_t, Rng& rng) {
    std::vector<MarginalBid> list;
    OrderedBids pieces;
    for (int change = 0; change < 80; ++change) {
      if (!list.empty() && rng.chance(0.4)) {
        const std::size_t at = rng.below(list.size());
        pieces.erase(list[at]);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const MarginalBid piece{.slope = double(rng.between(1, 5)),
                                .job = JobId(static_cast<std::uint64_t>(change) + 1),
                                .corner = 1,
                                .width = static_cast<int>(rng.between(1, 9))};
        pieces.insert(piece);
        list.insert(std::upper_bound(list.begin(), list.end(), piece, sold_before), piece);
      }
    }
    OrderedBids at_once;
    at_once.assign(list);
    const std::int64_t slots = rng.between(0, 200);
    std::int64_t used = 0;
    std::size_t fit = 0;
    while (fit < list.size() && used + list[fit].width <= slots) used += list[fit++].width;
    for (const OrderedBids* each : {&pieces, &at_once}) {
      const OrderedBids::Frontier frontier = each->frontier(slots);
      REQUIRE(frontier.used == used);
      REQUIRE(frontier.next.has_value() == (fit < list.size()));
      if (frontier.next) REQUIRE(frontier.next->job == list[fit].job);
      std::optional<MarginalBid> at = each->frontier(0).next;
      for (const MarginalBid& piece : list) {
        REQUIRE(at.has_value());
        REQUIRE(at->job == piece.job);
        at = each->after(*at);
      }
      REQUIRE(!at.has_value());
    }
  });
}

}  // namespace tidepool::policies::tidal
