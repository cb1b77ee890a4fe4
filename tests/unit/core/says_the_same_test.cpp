// When a reason says something else than the one before, beside the rule in plain words.
#include <catch2/catch.hpp>

#include <array>
#include <string>

#include "base/rng.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {
namespace {

constexpr std::array<const char*, 10> kNames{"of",    "to",    "size",  "next",  "worker",
                                             "looks", "worth", "price", "rival", "rival_worth"};

// Few codes, words and values, so that many pairs are alike but for one thing.
Reason random_reason(Rng& rng) {
  constexpr std::array kCodes{ReasonCode::kPriceHold, ReasonCode::kPriceGrow, ReasonCode::kStragglerWatched,
                              ReasonCode::kCooldown};
  Reason reason{rng.chance(0.9) ? ReasonCode::kPriceHold : kCodes[rng.below(kCodes.size())], {}};
  if (rng.chance(0.1)) reason.word = "word";
  for (const char* name : kNames) {
    if (rng.chance(0.4)) reason.numbers.push_back({name, double(rng.below(2))});
  }
  if (rng.chance(0.2)) rng.shuffle(reason.numbers);
  return reason;
}

// Which size a job holds and which comes next; whither it grows; which worker it is about. A cooldown is a cooldown.
bool by_the_rule(const Reason& one, const Reason& other) {
  const auto same = [&](const char* name) { return one.number(name) == other.number(name); };
  if (one.code != other.code || one.word != other.word) return false;
  if (one.code == ReasonCode::kPriceHold) return same("size") && same("next");
  if (one.code == ReasonCode::kPriceGrow) return same("to");
  return one.code == ReasonCode::kCooldown || same("worker");
}

}  // namespace

TEST_CASE("a reason says the same as long as its code, its word and the numbers that name its goal are the same") {
  Rng rng(6);
  int alike = 0;
  int values_only = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Reason one = random_reason(rng);
    Reason other = rng.chance(0.5) ? one : random_reason(rng);
    if (!other.numbers.empty() && rng.chance(0.7)) other.numbers[rng.below(other.numbers.size())].value += 1;
    REQUIRE(says_the_same(one, other) == by_the_rule(one, other));
    alike += by_the_rule(one, other) ? 1 : 0;
    values_only += by_the_rule(one, other) && !(one == other) ? 1 : 0;
  }
  CHECK(alike > 1'000);
  CHECK(values_only > 1'000);
}

}  // namespace tidepool::core
