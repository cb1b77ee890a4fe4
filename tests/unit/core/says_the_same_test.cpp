// What makes a reason news, against the rule spelled out.
#include "core/state/reason.hpp"

#include <catch2/catch.hpp>

#include <array>

#include "base/rng.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::core {
namespace {

constexpr std::array<const char*, 10> kNames{"of",    "to",    "size",  "next",  "worker",
                                             "looks", "worth", "price", "rival", "rival_worth"};

// As documents have it, so that the rule can be spelled out.
struct Written {
  std::string_view name;
  std::string_view word;
  std::vector<ReasonNumber> numbers;

  [[nodiscard]] Reason reason() const { return reason_from(name, word, numbers).value(); }
  [[nodiscard]] double number(std::string_view wanted) const { return test::number_in(reason(), wanted); }
};

// Few reasons, words and values, so that many pairs are alike but for one thing.
Written random_reason(Rng& rng) {
  constexpr std::array<std::string_view, 4> kOthers{"PriceGrow", "StragglerWatched", "Cooldown", "MeritHold"};
  Written written{
      .name = rng.chance(0.7) ? "PriceHold" : kOthers[rng.below(kOthers.size())], .word = {}, .numbers = {}};
  if (written.name == "MeritHold" && rng.chance(0.7)) written.word = rng.chance(0.5) ? "speedup" : "goodput";
  for (const char* name : kNames) {
    if (rng.chance(0.4)) written.numbers.push_back({name, double(rng.below(2))});
  }
  if (rng.chance(0.2)) rng.shuffle(written.numbers);
  return written;
}

// Which size a job holds and which comes next, by which measure; whither it grows; which worker it is about. A cooldown
// is a cooldown.
bool by_the_rule(const Written& one, const Written& other) {
  const auto same = [&](const char* name) { return one.number(name) == other.number(name); };
  if (one.name != other.name || one.word != other.word) return false;
  if (one.name == "PriceHold" || one.name == "MeritHold") return same("size") && same("next");
  if (one.name == "PriceGrow") return same("to");
  return one.name == "Cooldown" || same("worker");
}

}  // namespace

TEST_CASE("a reason says the same as long as its struct, its word and the fields that name its goal are the same") {
  Rng rng(6);
  int alike = 0;
  int values_only = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Written one = random_reason(rng);
    Written other = rng.chance(0.5) ? one : random_reason(rng);
    if (!other.numbers.empty() && rng.chance(0.7)) other.numbers[rng.below(other.numbers.size())].value += 1;
    const bool same = by_the_rule(one, other);
    REQUIRE(says_the_same(one.reason(), other.reason()) == same);
    alike += same ? 1 : 0;
    values_only += same && !(one.reason() == other.reason()) ? 1 : 0;
  }
  CHECK(alike > 1'000);
  CHECK(values_only > 1'000);
}

TEST_CASE("a policy file's own word is news when it is another one, or names another size") {
  const reason::PolicyWord word{.from = 4, .to = 2, .word = "Capped", .numbers = {{"most", 2}}};
  reason::PolicyWord other = word;
  other.numbers[0].value = 3;
  other.from = 3;
  CHECK(says_the_same(word, other));
  other.to = 1;
  CHECK_FALSE(says_the_same(word, other));
  other = word;
  other.word = "Late";
  CHECK_FALSE(says_the_same(word, other));
}

TEST_CASE("what waits for a type of slots is told anew with each doubling of its waiting") {
  const reason::WaitingForSlots plain{.needed = 2, .free = 1};
  reason::WaitingForSlots typed = plain;
  typed.type = reason::TypeWait{.movers = 1, .looks = 3};
  CHECK_FALSE(says_the_same(plain, typed));
  reason::WaitingForSlots later = typed;
  later.type->movers = 2;
  CHECK(says_the_same(typed, later));
  later.type->looks = 4;
  CHECK_FALSE(says_the_same(typed, later));
}

}  // namespace tidepool::core
