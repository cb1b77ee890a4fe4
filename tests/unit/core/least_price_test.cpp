#include "core/place/least_price.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "core/state/price_cap.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

Money dollars(std::int64_t count) {
  return Money::micros(count * 1'000'000);
}

// Slot by slot.
std::optional<Money> walked(const core::RoomsByPrice::OfTypes& rooms, std::int64_t count) {
  std::optional<Money> least;
  for (const auto& [type, by_price] : rooms) {
    std::int64_t lacks = count;
    for (const auto& [price, there] : by_price) {
      lacks -= there;
      if (lacks > 0) continue;
      if (!least || price < *least) least = price;
      break;
    }
  }
  return least;
}

}  // namespace

TEST_CASE("each of so many rooms costs as much as the dearest of the cheapest of one type") {
  const core::RoomsByPrice prices({{"a", {{dollars(1), 2}, {dollars(4), 3}}}, {"b", {{dollars(2), 4}}}, {"c", {}}});
  CHECK(prices.each_of(1) == dollars(1));
  CHECK(prices.each_of(2) == dollars(1));
  CHECK(prices.each_of(3) == dollars(2));
  CHECK(prices.each_of(4) == dollars(2));
  CHECK(prices.each_of(5) == dollars(4));
  CHECK_FALSE(prices.each_of(6));
}

TEST_CASE("sums of rooms tell the price that a walk past all prices tells") {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    core::RoomsByPrice::OfTypes rooms;
    const auto types = rng.below(4);
    for (std::uint64_t type = 0; type < types; ++type) {
      auto& by_price = rooms[std::string(1, static_cast<char>('a' + type))];
      for (auto levels = rng.below(6); levels > 0; --levels) {
        by_price[dollars(static_cast<std::int64_t>(rng.below(9)))] = static_cast<std::int64_t>(rng.below(4));
      }
    }
    const core::RoomsByPrice prices(rooms);
    for (std::int64_t count = 1; count < 20; ++count) CHECK(prices.each_of(count) == walked(rooms, count));
  }
}

TEST_CASE("a job asks for nodes by what they are, or because its price cap keeps it from some") {
  Story story;
  story.node(2, "cheap");  // a slot costs a dollar
  const JobId plain = story.submit({.min = 1, .max = 2});
  const JobId capped = story.submit({.min = 1, .max = 2, .price_cap = dollars(3)});
  const auto asks = [&](JobId job) {
    return core::asks_for_nodes(story.state(), story.job(job), core::dearest_slot(story.state()));
  };
  CHECK_FALSE(asks(plain));
  CHECK_FALSE(asks(capped));
  story.node(2, "dear", {}, dollars(4));
  CHECK_FALSE(asks(plain));
  CHECK(asks(capped));
  core::Job choosy = story.job(plain);
  choosy.spec.slot_types = {"cpu"};
  CHECK(core::asks_for_nodes(story.state(), choosy, core::dearest_slot(story.state())));
}

}  // namespace tidepool::test
