#include "schedulerd/live/service/publisher.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live {

TEST_CASE("readers keep the picture they took while a new one is published") {
  Publisher publisher;
  auto first = std::make_shared<Published>();
  first->as_of_seq = 1;
  publisher.publish(first);
  const auto taken = publisher.picture();
  auto second = std::make_shared<Published>();
  second->as_of_seq = 2;
  publisher.publish(second);
  CHECK(taken->as_of_seq == 1);
  CHECK(publisher.picture()->as_of_seq == 2);
}

TEST_CASE("a subscriber hears every batch until its handle is dropped") {
  Publisher publisher;
  std::vector<EventSeq> heard;
  auto handle = publisher.subscribe([&](const std::vector<core::Event>& events) {
    for (const auto& event : events) heard.push_back(event.seq);
  });
  core::Event event;
  event.seq = 7;
  publisher.announce({event});
  publisher.announce({});
  handle.reset();
  event.seq = 8;
  publisher.announce({event});
  CHECK(heard == std::vector<EventSeq>{7});
}

TEST_CASE("a handle may outlive the publisher") {
  auto publisher = std::make_unique<Publisher>();
  auto handle = publisher->subscribe([](const auto&) {});
  publisher.reset();
  handle.reset();
  SUCCEED("nothing was touched that is gone");
}

}  // namespace tidepool::live
