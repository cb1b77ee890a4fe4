#include "base/ip_network.hpp"

#include <catch2/catch.hpp>

namespace tidepool {
namespace {

std::string refusal(const std::string& text) {
  const auto network = IpNetwork::parse(text);
  return network ? "taken as " + to_text(*network) : network.error().message;
}

}  // namespace

TEST_CASE("an address or a network of either family is read and written") {
  const auto read = [](const std::string& text) { return to_text(IpNetwork::parse(text).value()); };
  CHECK(read("169.254.169.254") == "169.254.169.254/32");
  CHECK(read("10.0.0.0/8") == "10.0.0.0/8");
  CHECK(read("10.128.0.0/9") == "10.128.0.0/9");
  CHECK(read("0.0.0.0/0") == "0.0.0.0/0");
  CHECK(read("fd00:ec2::254") == "fd00:ec2::254/128");
  CHECK(read("fd00:ec2::/32") == "fd00:ec2::/32");
  CHECK(read("::/0") == "::/0");
}

TEST_CASE("an IPv4 network has the bits of its mapped form, so that one comparison serves both families") {
  const IpNetwork network = IpNetwork::parse("10.0.0.0/8").value();
  CHECK(network.v4);
  CHECK(network.prefix == 104);
  CHECK(network.address == std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 0});
  CHECK_FALSE(IpNetwork::parse("fd00::/8").value().v4);
}

TEST_CASE("a network holds its own addresses and smaller networks of its family") {
  const auto holds = [](const char* network, const char* other) {
    return IpNetwork::parse(network).value().holds(IpNetwork::parse(other).value());
  };
  CHECK(holds("127.0.0.0/8", "127.0.0.1"));
  CHECK(holds("10.128.0.0/9", "10.200.0.0/16"));
  CHECK(holds("0.0.0.0/0", "10.0.0.1"));
  CHECK(holds("fd00::/8", "fd00::1"));
  CHECK_FALSE(holds("10.128.0.0/9", "10.0.0.0/9"));
  CHECK_FALSE(holds("10.0.0.0/9", "10.0.0.0/8"));
  CHECK_FALSE(holds("::/0", "10.0.0.1"));
}

TEST_CASE("of several networks the first that holds another one is found") {
  const auto network = [](const char* text) { return IpNetwork::parse(text).value(); };
  const std::vector<IpNetwork> networks = {network("fd00::/8"), network("10.1.0.0/16"), network("10.0.0.0/8")};
  CHECK(holder_of(network("10.1.2.3"), networks) == &networks[1]);
  CHECK(holder_of(network("10.2.0.0/16"), networks) == &networks[2]);
  CHECK(holder_of(network("0.0.0.0/0"), networks) == nullptr);
  CHECK(holder_of(network("10.1.2.3"), {}) == nullptr);
}

TEST_CASE("what is no network is refused with what to write") {
  for (const char* none : {"", "metadata", "10.0.0", "10.0.0.256", "010.0.0.1", "fe80::1%eth0", "/8", "10.0.0.0 /8"}) {
    CHECK_THAT(refusal(none), Catch::Contains("write it as 10.0.0.0/8, 10.1.2.3, fd00::/8 or fd00::1"));
  }
  for (const char* none : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/255.0.0.0"}) {
    CHECK_THAT(refusal(none), Catch::Contains("no prefix from 0 to 32 behind its slash; write it as 10.0.0.0/8"));
  }
  CHECK_THAT(refusal("fd00::/129"), Catch::Contains("no prefix from 0 to 128 behind its slash; write it as fd00::/8"));
  CHECK(refusal("10.1.2.3/8") ==
        "\"10.1.2.3/8\" has host bits set; write 10.0.0.0/8 for the network, or 10.1.2.3 for the address");
  CHECK_THAT(refusal("fd00:ec2::254/33"), Catch::Contains("write fd00:ec2::/33 for the network"));
  CHECK_THAT(refusal("::ffff:10.1.2.3"), Catch::Contains("write it as 10.1.2.3"));
}

}  // namespace tidepool
