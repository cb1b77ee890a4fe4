#include "schedctl/words.hpp"

#include <catch2/catch.hpp>

namespace tidepool::ctl {
namespace {

TEST_CASE("numbers are written as people read them") {
  CHECK(whole(0) == "0");
  CHECK(whole(999) == "999");
  CHECK(whole(9120.5) == "9,120");
  CHECK(whole(1234567) == "1,234,567");
  CHECK(whole(-1234) == "-1,234");
  CHECK(rate(9120.5) == "9,120");
  CHECK(rate(12.34) == "12.3");
  CHECK(rate(std::nullopt) == "-");
  CHECK(rate(0) == "-");
  CHECK(slot_hours(0) == "-");
  CHECK(slot_hours(0.00001) == "<0.0001");
  CHECK(slot_hours(12.0 / 3600) == "0.0033");
  CHECK(slot_hours(12.34) == "12.3400");
  CHECK(slot_hours(1234.5) == "1234.5000");
  CHECK(quantity(0) == "0");  // it is known
  CHECK(money("0.012882", "USD") == "0.0129 USD");
  CHECK(money("odd\033", "") == "odd?");
  CHECK(loss(2.31) == "2.31");
  CHECK(loss(0.0001234567) == "0.0001235");
  CHECK(percent(0.62) == "62 %");
  CHECK(percent(-0.04) == "-4 %");
  CHECK(count_of(1, "worker") == "1 worker");
  CHECK(count_of(2, "worker") == "2 workers");
  CHECK(seconds_in_words(3.21) == "3.2 s");
  CHECK(seconds_in_words(80.2) == "1m 20s");
  CHECK(seconds_in_words(7260) == "2h 1m");
  CHECK(seconds_in_words(172'799) == "47h 59m");
  CHECK(seconds_in_words(172'800) == "2d 0h");
  CHECK(seconds_in_words(400 * 86'400.0 + 5 * 3'600) == "400d 5h");
}

TEST_CASE("two figures that are held against each other read alike only if they are") {
  using Told = std::pair<std::string, std::string>;
  CHECK(distinguished(2, 3) == Told("2.0", "3.0"));
  CHECK(distinguished(2, 2) == Told("2.0", "2.0"));
  CHECK(distinguished(2.04, 2.01) == Told("2.04", "2.01"));
  CHECK(distinguished(1234.5, 1234.25) == Told("1234.5", "1234.2"));
  CHECK(distinguished(0, 0.001) == Told("0.000", "0.001"));
}

TEST_CASE("a timestamp shortens to its clock or its day and clock, anything else stays") {
  CHECK(moment_of("2026-11-20T21:53:31.004Z") == "2026-11-20 21:53:31");
  CHECK(moment_of("soon") == "soon");
  CHECK(clock_of("2026-11-20T21:53:31.004Z") == "21:53:31");
  CHECK(clock_of("soon") == "soon");
}

TEST_CASE("control characters of others do not reach the terminal") {
  CHECK(printable("a\033[31mb\nc\x7f") == "a?[31mb c?");
  CHECK(printable("caf\xc3\xa9 \xc2\x9b") == "caf\xc3\xa9 ?");
  CHECK(printable("\tsize mismatch for 4.weight") == " size mismatch for 4.weight");
}

TEST_CASE("characters that turn the order of others do not reach the terminal") {
  CHECK(printable("a\u202egnp\u2066x\u200f\u061c\u2028z") == "a?gnp?x???z");
  CHECK(printable("gr\u00fc\u00dfe \u20ac \u2014 \u4e2d \u0627") == "gr\u00fc\u00dfe \u20ac \u2014 \u4e2d \u0627");
  CHECK(printable("\xe2") == "\xe2");  // cut short
  CHECK(printable("\xc2") == "?");
}

TEST_CASE("a time of another day than now has its day") {
  CHECK(time_beside("2026-11-20T21:53:31.004Z", "2026-11-20T23:00:00Z") == "21:53:31");
  CHECK(time_beside("2026-11-20T21:53:31.004Z", "2026-11-21T00:00:00Z") == "2026-11-20 21:53:31");
  CHECK(time_beside("2026-11-20T21:53:31.004Z", "") == "21:53:31");
  CHECK(time_beside("soon", "2026-11-21T00:00:00Z") == "soon");
}

TEST_CASE("a long text is cut at a character, not inside one") {
  CHECK(shorten("abcdef", 6) == "abcdef");
  CHECK(shorten("abcdef", 4) == "abc…");
  CHECK(shorten("ééééé", 3) == "éé…");
  CHECK(shorten("abc", 0).empty());
}

TEST_CASE("lines break at blanks and stay within the width") {
  const Style narrow{.width = 20};
  CHECK(wrapped("one two three four five six", 4, narrow) == "one two three four\n    five six");
  CHECK(wrapped("", 4, narrow).empty());
  CHECK(wrapped("a-word-that-is-longer-than-the-line", 2, narrow) == "a-word-that-is-longer-than-the-line");
}

TEST_CASE("the warnings of an answer are a paragraph each, and an answer without any has none") {
  CHECK(warnings_text({{"warnings", {"the policy file capped has no hook share", "careful\x1b[2J"}}}, {.width = 40}) ==
        "warning: the policy file capped has no\n  hook share\nwarning: careful?[2J\n");
  CHECK(warnings_text({{"warnings", nlohmann::json::array()}}, {}).empty());
  CHECK(warnings_text(nlohmann::json::object(), {}).empty());
}

TEST_CASE("colours appear only where they may") {
  CHECK(coloured_state("running ", "running", {.colour = false}) == "running ");
  CHECK(coloured_state("running ", "running", {.colour = true}) == "\033[32mrunning \033[0m");
}

}  // namespace
}  // namespace tidepool::ctl
