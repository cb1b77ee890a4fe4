#include "schedctl/event_stream.hpp"

#include <catch2/catch.hpp>

namespace tidepool::ctl {
namespace {

TEST_CASE("lines of an event stream become messages") {
  SseReader reader;
  CHECK_FALSE(reader.take(": heartbeat"));
  CHECK_FALSE(reader.take(""));
  CHECK_FALSE(reader.take("id: 7"));
  CHECK_FALSE(reader.take("event: job.resized"));
  CHECK_FALSE(reader.take("data: {\"a\":"));
  CHECK_FALSE(reader.take("data:1}"));
  const auto message = reader.take("");
  REQUIRE(message);
  CHECK(message->event == "job.resized");
  CHECK(message->data == "{\"a\":\n1}");
  CHECK_FALSE(reader.take(""));
}

TEST_CASE("a heartbeat with a number says how far the reader has come") {
  SseReader reader;
  CHECK_FALSE(reader.take("id: 31"));
  CHECK_FALSE(reader.take(": beat"));
  const auto message = reader.take("");
  REQUIRE(message);
  CHECK(message->data.empty());
  CHECK(message->id == 31);
  CHECK_FALSE(reader.take(": beat"));
  CHECK_FALSE(reader.take(""));
  CHECK_FALSE(reader.take("id: 32nd"));
  CHECK_FALSE(reader.take(""));
}

TEST_CASE("the name of one message does not leak into the next") {
  SseReader reader;
  (void)reader.take("event: reset");
  (void)reader.take("");  // no data: not a message
  (void)reader.take("data: x");
  const auto message = reader.take("");
  REQUIRE(message);
  CHECK(message->event.empty());
}

}  // namespace
}  // namespace tidepool::ctl
