#include "workers/agent/data_address.hpp"

#include <catch2/catch.hpp>

#include "api/comm_address.hpp"

namespace tidepool::agent {
namespace {

const std::vector<DataAddress> kPresent = {{"127.0.0.1", "lo"},     {"10.1.2.3", "eth0"}, {"fd00::3", "eth0"},
                                           {"10.2.0.1", "ib0"},     {"10.2.0.2", "ib0"},  {"fd01::1", "wg0"},
                                           {"192.168.1.9", "eth1"}, {"::1", "lo"}};

std::string chosen(const std::string& wanted) {
  const auto found = choose_data_address(wanted, kPresent);
  return found ? found->host + " on " + found->interface : found.error().message;
}

}  // namespace

TEST_CASE("an operator names the data address by itself, by its interface or by its network") {
  CHECK(chosen("10.1.2.3") == "10.1.2.3 on eth0");
  CHECK(chosen("FD00:0::3") == "fd00::3 on eth0");
  CHECK(chosen("eth0") == "10.1.2.3 on eth0");  // one IPv4 address goes before IPv6
  CHECK(chosen("wg0") == "fd01::1 on wg0");
  CHECK(chosen("10.1.0.0/16") == "10.1.2.3 on eth0");
  CHECK(chosen("10.1.2.3/32") == "10.1.2.3 on eth0");
  CHECK(chosen("fd00::/64") == "fd00::3 on eth0");
  CHECK(chosen("lo") == "127.0.0.1 on lo");
}

TEST_CASE("a data address that is none is explained with what this machine has") {
  CHECK_THAT(chosen("10.9.9.9"), Catch::Contains("--data-address: 10.9.9.9 is no address of this machine") &&
                                     Catch::Contains("192.168.1.9 (eth1)"));
  CHECK_THAT(chosen("eth7"), Catch::Contains("no interface \"eth7\"") && Catch::Contains("10.1.2.3 (eth0)"));
  CHECK_THAT(chosen("172.16.0.0/12"), Catch::Contains("no address of this machine is in 172.16.0.0/12"));
  CHECK_THAT(chosen("10.0.0.0/8"), Catch::Contains("several") && Catch::Contains("10.1.2.3 (eth0), 10.2.0.1 (ib0)"));
  CHECK_THAT(chosen("ib0"), Catch::Contains("interface ib0 has several addresses"));
  CHECK_THAT(chosen("10.0.0.0/99"), Catch::Contains("--data-address: \"10.0.0.0/99\" has no prefix from 0 to 32"));
  CHECK(chosen("10.1.99.99/16") ==
        "--data-address: \"10.1.99.99/16\" has host bits set; write 10.1.0.0/16 for the network, or 10.1.99.99 for the "
        "address");
  CHECK_THAT(choose_data_address("eth0", {}).error().message, Catch::Contains("this machine has none"));
}

TEST_CASE("this machine has loopback, by which its interface is found") {
  const auto present = addresses_of_this_machine();
  CHECK(interface_of("127.0.0.1", present) == "lo");
  CHECK(interface_of("203.0.113.77", present).empty());
}

TEST_CASE("without an operator's word the data address is the one from which the daemon is reached") {
  NodeAddress by_route{""};
  CHECK(by_route.host().empty());
  CHECK(by_route.learn("127.0.0.1").ok());
  CHECK(by_route.now().interface == "lo");
  CHECK(by_route.learn("10.1.2.3").ok());
  CHECK(by_route.host() == "10.1.2.3");
  const Status link_local = by_route.learn("fe80::1%eth0");
  REQUIRE_FALSE(link_local.ok());
  CHECK_THAT(link_local.error().message, Catch::Contains("--data-address"));
  NodeAddress by_word{"10.2.0.1"};
  CHECK(by_word.learn("10.1.2.3").ok());
  CHECK(by_word.host() == "10.2.0.1");
}

TEST_CASE("an address that is denied to jobs is no data address, by an operator's word or by the link") {
  const std::vector<IpNetwork> denied = {IpNetwork::parse("10.9.0.0/16").value(), IpNetwork::parse("fd09::1").value()};
  NodeAddress by_route{"", denied};
  CHECK(by_route.learn("10.1.2.3").ok());
  const Status in_network = by_route.learn("10.9.1.5");
  REQUIRE_FALSE(in_network.ok());
  CHECK_THAT(in_network.error().message,
             Catch::Contains("--deny-address 10.9.0.0/16 holds this node's own data address 10.9.1.5"));
  CHECK(by_route.host() == "10.1.2.3");
  CHECK_FALSE(by_route.learn("fd09::1").ok());
  NodeAddress by_word{"10.9.1.5", denied};
  CHECK_FALSE(by_word.learn("10.1.2.3").ok());
  CHECK(NodeAddress("10.1.2.3", denied).learn("10.9.1.5").ok());
}

TEST_CASE("a worker that says the address of another node is found out") {
  const auto blob_of = [](const std::string& host) {
    return api::CommAddress{.nccl = std::nullopt, .gloo = api::CommAddress::Gloo{.host = host, .entries = {{}, {}}}}
        .encode();
  };
  CHECK_FALSE(why_not_of_node(blob_of("10.1.2.3"), "10.1.2.3"));
  CHECK_FALSE(why_not_of_node(blob_of("10.1.2.3"), ""));  // the agent does not know its own yet
  CHECK(why_not_of_node(blob_of("10.1.2.4"), "10.1.2.3") == "10.1.2.4 is not this node's data address 10.1.2.3");
  CHECK_THAT(why_not_of_node("what is this", "10.1.2.3").value_or(""), Catch::Contains("does not send"));
  const api::CommAddress nccl{.nccl = api::CommAddress::Nccl{.version = 22'809, .id = {}}, .gloo = std::nullopt};
  CHECK_FALSE(why_not_of_node(nccl.encode(), "10.1.2.3"));
}

}  // namespace tidepool::agent
