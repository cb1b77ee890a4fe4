#include <catch2/catch.hpp>

#include <thread>

#include "workers/runtime/membership.hpp"

namespace tidepool::runtime {
namespace {

Generation generation(GenerationNumber number) {
  return {.number = number, .members = {WorkerId(1), WorkerId(2)}};
}
TimePoint soon() {
  return Clock::now() + Millis{5};
}

Generation after_failure(GenerationNumber number) {
  Generation next = generation(number);
  next.after_failure = true;
  return next;
}

}  // namespace

TEST_CASE("an older or equal generation number changes nothing") {
  Membership board;
  board.announce(generation(3));
  board.announce({.number = 3, .members = {}, .after_failure = true});
  board.announce({.number = 2, .members = {}, .after_failure = true});
  CHECK(board.newest().number == 3);
  CHECK(board.newest().size() == 2);
  CHECK(!board.failed_since(0));
}

TEST_CASE("shares are of one generation, and an older table of it changes nothing") {
  Membership board;
  CHECK(!board.newest_shares(1));
  board.announce_shares(2, SampleWeights(2, {3, 4}));
  CHECK(!board.newest_shares(1));
  board.announce_shares(2, SampleWeights(1, {9, 9}));
  board.announce_shares(1, SampleWeights(7, {9, 9}));
  REQUIRE(board.newest_shares(2));
  CHECK(board.newest_shares(2)->number() == 2);
  board.announce_shares(3, SampleWeights(1, {1, 2, 3}));
  CHECK(!board.newest_shares(2));
  CHECK(board.newest_shares(3)->size() == 3);
}

TEST_CASE("a failure is remembered although a planned generation follows it") {
  Membership board;
  board.announce(generation(1));
  board.announce(after_failure(2));
  board.announce(generation(3));
  CHECK(board.failed_since(1));
  CHECK(!board.failed_since(2));
}

TEST_CASE("addresses of any but the newest generation are not handed out") {
  Membership board;
  board.announce(generation(2));
  board.announce_addresses(1, {"a", "b"});
  CHECK(!board.wait_addresses(2, soon()));
  board.announce_addresses(2, {"a"});  // not that of each
  CHECK(!board.wait_addresses(2, soon()));
  board.announce_addresses(2, {"a", "b"});
  CHECK(board.wait_addresses(2, soon()) == std::vector<std::string>{"a", "b"});
  board.announce(generation(3));
  CHECK(!board.wait_addresses(2, soon()));
}

TEST_CASE("a wait for addresses ends when a newer generation supersedes it") {
  Membership board;
  board.announce(generation(1));
  const TimePoint begin = Clock::now();
  std::thread news([&] { board.announce(after_failure(2)); });
  CHECK(!board.wait_addresses(1, begin + Millis{60'000}));
  CHECK(Clock::now() - begin < Millis{30'000});
  news.join();
}

TEST_CASE("a watch acts once, for failures only or for any newer generation") {
  Membership board;
  board.announce(generation(1));
  int failures = 0;
  int newer = 0;
  static_cast<void>(board.watch(1, Membership::Over::kByFailure, [&] { ++failures; }));
  static_cast<void>(board.watch(1, Membership::Over::kByAnyNewer, [&] { ++newer; }));
  const auto quiet = board.watch(1, Membership::Over::kByFailure, [&] { failures += 100; });
  board.unwatch(quiet);
  board.announce(generation(2));
  CHECK(failures == 0);
  CHECK(newer == 1);
  board.announce(after_failure(3));
  board.announce(after_failure(4));
  CHECK(failures == 1);
  CHECK(newer == 1);
  static_cast<void>(board.watch(1, Membership::Over::kByFailure, [&] { ++failures; }));  // over already
  CHECK(failures == 2);
}

}  // namespace tidepool::runtime
