#include "schedulerd/live/service/event_queue.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace tidepool::live {
namespace {
using namespace std::chrono_literals;
}

TEST_CASE("heavy items fill a take as so many light ones, and one that is too heavy alone is taken alone") {
  EventQueue<int> queue(9, [](const int& item) { return static_cast<std::size_t>(item); });
  for (const int item : {1, 3, 2, 50, 1}) REQUIRE(queue.try_push(item).ok());
  CHECK(queue.take(4, 0us) == std::vector{1, 3});
  CHECK(queue.take(1, 0us) == std::vector{2});
  CHECK(queue.take(10, 0us) == std::vector{50});
  CHECK(queue.take(10, 0us) == std::vector{1});
}

TEST_CASE("a full queue refuses at once and says to try again") {
  EventQueue<int> queue(2);
  REQUIRE(queue.try_push(1).ok());
  REQUIRE(queue.try_push(2).ok());
  const Status refused = queue.try_push(3);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kUnavailable);
  CHECK(queue.take(10, 0us) == std::vector{1, 2});
  CHECK(queue.try_push(3).ok());
}

TEST_CASE("take gives items in order and at most so many") {
  EventQueue<int> queue(10);
  for (int i = 1; i <= 5; ++i) REQUIRE(queue.try_push(i).ok());
  CHECK(queue.take(3, 0us) == std::vector{1, 2, 3});
  CHECK(queue.take(3, 0us) == std::vector{4, 5});
  CHECK(queue.take(3, 1us).empty());
}

TEST_CASE("a waiting sender goes on when there is room") {
  EventQueue<int> queue(1);
  REQUIRE(queue.try_push(1).ok());
  bool sent = false;
  std::thread sender([&] { sent = queue.push(2); });  // assertions are for one thread at a time
  CHECK(queue.take(1, 1s) == std::vector{1});
  CHECK(queue.take(1, 10s) == std::vector{2});
  sender.join();
  CHECK(sent);
}

TEST_CASE("closing wakes both sides and keeps what is inside") {
  EventQueue<int> queue(1);
  REQUIRE(queue.try_push(1).ok());
  bool sent = true;
  std::thread sender([&] { sent = queue.push(2); });
  queue.close();
  sender.join();
  CHECK_FALSE(sent);
  CHECK_FALSE(queue.try_push(3).ok());
  CHECK_FALSE(queue.drained());
  CHECK(queue.take(5, 1s) == std::vector{1});
  CHECK(queue.drained());
}

TEST_CASE("what comes close behind the first item is taken with it, and a lone one is not waited beside for long") {
  EventQueue<int> queue(8);
  REQUIRE(queue.try_push(1).ok());
  CHECK(queue.take(8, 10s, {}) == std::vector{1});
  REQUIRE(queue.try_push(1).ok());
  std::thread sender([&] {
    for (const int item : {2, 3}) (void)queue.push(item);
  });
  CHECK(queue.take(3, 10s, {.gap = 10s, .most = 10s}) == std::vector{1, 2, 3});  // full: no more is waited for
  sender.join();
  REQUIRE(queue.try_push(4).ok());
  CHECK(queue.take(3, 10s, {.gap = 1ms, .most = 10s}) == std::vector{4});
  REQUIRE(queue.try_push(5).ok());
  queue.close();
  CHECK(queue.take(3, 10s, {.gap = 10s, .most = 10s}) == std::vector{5});
}

TEST_CASE("many senders lose nothing") {
  EventQueue<int> queue(8);
  constexpr int kSenders = 4;
  constexpr int kEach = 500;
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&queue] {
      for (int i = 0; i < kEach; ++i) queue.push(1);
    });
  }
  int received = 0;
  while (received < kSenders * kEach) received += static_cast<int>(queue.take(50, 10s).size());
  for (auto& sender : senders) sender.join();
  CHECK(queue.size() == 0);
}

}  // namespace tidepool::live
