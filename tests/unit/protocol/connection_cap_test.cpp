// Which connections a listener lets in.
#include "api/connection_cap.hpp"

#include <catch2/catch.hpp>

namespace tidepool::api {
namespace {

Peer peer(const char* from, const char* own = "10.0.0.1") {
  return peer_of(boost::asio::ip::make_address(from), boost::asio::ip::make_address(own));
}

}  // namespace

TEST_CASE("addresses are counted alone, and those of IPv6 by their network") {
  CHECK(peer("10.0.0.2").group == "10.0.0.2");
  CHECK(peer("::ffff:10.0.0.2").group == "10.0.0.2");
  CHECK(peer("2001:db8:1:2::1").group == peer("2001:db8:1:2:ffff::9").group);
  CHECK(peer("2001:db8:1:2::1").group != peer("2001:db8:1:3::1").group);
  CHECK_FALSE(peer("10.0.0.2").is_here);
}

TEST_CASE("a peer is on this machine by loopback, or by the address that it has connected to") {
  for (const char* own : {"127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"}) {
    INFO(own);
    CHECK(peer(own).is_here);
  }
  CHECK(peer("2001:db8::1", "2001:db8::1").is_here);
  CHECK(peer("2001:db8::1", "2001:db8::1").group != peer("2001:db8::2", "2001:db8::1").group);
}

TEST_CASE("connections from the network leave room for those of this machine, however many addresses they come from") {
  ConnectionCap cap({.all = 10, .kept_for_here = 3, .per_group = 4, .per_group_here = 5});
  const auto taken = [&](const Peer& from, int tries) {
    int got = 0;
    for (int i = 0; i < tries; ++i) got += cap.take(from) ? 1 : 0;
    return got;
  };
  CHECK(taken(peer("10.0.0.2"), 9) == 4);
  CHECK(taken(peer("10.0.0.3"), 9) == 3);
  CHECK(taken(peer("10.0.0.4"), 9) == 0);
  CHECK(taken(peer("127.0.0.1"), 9) == 3);
  cap.give_back(peer("10.0.0.2"));
  CHECK(taken(peer("10.0.0.4"), 9) == 1);
  for (int i = 0; i < 3; ++i) cap.give_back(peer("10.0.0.3"));
  CHECK(taken(peer("127.0.0.1"), 9) == 2);  // of one address here
  CHECK(taken(peer("127.0.0.2"), 9) == 1);  // all
}

}  // namespace tidepool::api
