// How ranks with different libraries come to one transport.
#include <catch2/catch.hpp>

#include "workers/runtime/comm_address.hpp"

namespace tidepool::runtime {
namespace {

CommAddress::Gloo mesh(const std::string& host = "10.1.2.3") {
  return {.host = host,
          .entries = {{.port = 0, .key = std::string(16, '\0')}, {.port = 65'000, .key = "0123456789abcdef"}}};
}
CommAddress both(int version, const std::string& id = "") {
  return {.nccl = CommAddress::Nccl{.version = version, .id = id}, .gloo = mesh()};
}
CommAddress only_gloo() {
  return {.nccl = std::nullopt, .gloo = mesh()};
}
CommAddress only_nccl(int version) {
  return {.nccl = CommAddress::Nccl{.version = version, .id = {}}, .gloo = std::nullopt};
}

}  // namespace

TEST_CASE("an address comes back as it was sent") {
  const std::string id(128, '\xfe');
  const auto address = CommAddress::decode(both(22'809, id).encode());
  REQUIRE(address.ok());
  REQUIRE(address->nccl);
  CHECK(address->nccl->version == 22'809);
  CHECK(address->nccl->id == id);
  CHECK(address->gloo == mesh());
  const auto plain = CommAddress::decode(only_gloo().encode());
  REQUIRE(plain.ok());
  CHECK(!plain->nccl);
  CHECK(plain->gloo == mesh());
}

TEST_CASE("what one rank is told of an address has its own entry alone") {
  const std::string id(128, '\xfe');
  for (const CommAddress& whole : {both(22'809, id), both(22'809), only_gloo()}) {
    const auto cut = CommAddress::decode(api::address_for_rank(whole.encode(), 1));
    REQUIRE(cut.ok());
    CHECK(cut->nccl.has_value() == whole.nccl.has_value());
    REQUIRE(cut->gloo->entries.size() == 1);
    REQUIRE(cut->gloo->entry_of(1, 2) != nullptr);
    CHECK(*cut->gloo->entry_of(1, 2) == *whole.gloo->entry_of(1, 2));
    CHECK(cut->gloo->host == whole.gloo->host);
  }
  CHECK(only_gloo().gloo->entry_of(2, 3) == nullptr);
  for (const std::string& other : {std::string(), std::string("{\"node\":1}"), only_nccl(22'809).encode()}) {
    CHECK(api::address_for_rank(other, 0) == other);
  }
  CHECK(api::address_for_rank(only_gloo().encode(), 2) == only_gloo().encode());
}

TEST_CASE("an address that is cut off anywhere before Gloo's part is refused") {
  const std::string whole = only_nccl(22'809).encode();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(!CommAddress::decode(whole.substr(0, length)).ok());
  }
  CHECK(!CommAddress::decode(whole + "x").ok());
}

TEST_CASE("Gloo's part is refused where it is cut off, and with a host that is no address") {
  const std::string whole = only_gloo().encode();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto cut = CommAddress::decode(whole.substr(0, length));
    CHECK((!cut.ok() || cut->gloo->entries.size() < 2));  // at the end of an entry the rank's number of them is wrong
  }
  for (const char* bad : {"", "localhost", "0.0.0.0", "::", "224.0.0.1", "fe80::1%eth0", "10.1.2.3:80"}) {
    CHECK(!CommAddress::decode(CommAddress{.nccl = std::nullopt, .gloo = mesh(bad)}.encode()).ok());
  }
  CHECK(CommAddress::decode(CommAddress{.nccl = std::nullopt, .gloo = mesh("fd00::7")}.encode()).ok());
}

TEST_CASE("all ranks with the same NCCL use it") {
  const auto agreed = agree_on_transport({both(22'809), both(22'809), only_nccl(22'809)});
  REQUIRE(agreed.ok());
  CHECK(agreed->transport == Transport::kNccl);
}

TEST_CASE("one rank without NCCL, or with another version, takes all to Gloo and is named") {
  const auto without = agree_on_transport({both(22'809), only_gloo()});
  REQUIRE(without.ok());
  CHECK(without->transport == Transport::kGloo);
  CHECK(without->why_not_nccl == "rank 1 has no NCCL");
  const auto older = agree_on_transport({both(22'809), both(22'809), both(21'805)});
  REQUIRE(older.ok());
  CHECK(older->transport == Transport::kGloo);
  CHECK_THAT(older->why_not_nccl, Catch::Contains("rank 2 has another version"));
}

TEST_CASE("jobs without GPUs use Gloo and say nothing of NCCL") {
  const auto agreed = agree_on_transport({only_gloo(), only_gloo()});
  REQUIRE(agreed.ok());
  CHECK(agreed->transport == Transport::kGloo);
  CHECK(agreed->why_not_nccl.empty());
}

TEST_CASE("ranks with nothing in common are told which of them to change") {
  const auto agreed = agree_on_transport({only_nccl(22'809), only_gloo()});
  REQUIRE(!agreed.ok());
  CHECK_THAT(agreed.error().message, Catch::Contains("rank 1 has no NCCL") && Catch::Contains("rank 0 takes nothing"));
}

}  // namespace tidepool::runtime
