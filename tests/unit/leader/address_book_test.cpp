#include "schedulerd/leader/address_book.hpp"

#include <catch2/catch.hpp>

#include "api/comm_address.hpp"

namespace tidepool::leader {
namespace {

AddressBook::Entry entry(GenerationNumber generation, int rank, std::string blob) {
  return {.job = JobId(1), .generation = generation, .rank = rank, .size = 2, .blob = std::move(blob)};
}

}  // namespace

TEST_CASE("addresses are given out in rank order once the last one is in") {
  AddressBook book;
  CHECK(book.put(entry(3, 1, "b")) == AddressBook::Outcome::kWaiting);
  CHECK_FALSE(book.told_to(0, JobId(1), 3).has_value());
  CHECK(book.put(entry(3, 0, "a")) == AddressBook::Outcome::kComplete);
  REQUIRE(book.told_to(0, JobId(1), 3).has_value());
  CHECK(book.told_to(0, JobId(1), 3)->blobs == std::vector<std::string>{"a", "b"});
}

TEST_CASE("each of many ranks is told its own part of where the others listen, in a line that is not too long") {
  const int ranks = 4096;
  api::CommAddress address{.nccl = std::nullopt, .gloo = api::CommAddress::Gloo{.host = "10.1.2.3", .entries = {}}};
  for (int rank = 0; rank < ranks; ++rank) {
    address.gloo->entries.push_back({.port = static_cast<std::uint16_t>(rank), .key = std::string(16, 'k')});
  }
  AddressBook book;
  for (int rank = 0; rank < ranks; ++rank) {
    book.put({.job = JobId(1), .generation = 1, .rank = rank, .size = ranks, .blob = address.encode()});
  }
  const auto told = book.told_to(7, JobId(1), 1);
  REQUIRE(told.has_value());
  REQUIRE(told->blobs.size() == ranks);
  const auto first = api::CommAddress::decode(told->blobs.front());
  REQUIRE(first.ok());
  REQUIRE(first->gloo->entry_of(7, ranks) != nullptr);
  CHECK(first->gloo->entry_of(7, ranks)->port == 7);
  CHECK(api::encode(api::DaemonToAgent(api::ToWorkerOrder{WorkerId(1), *told})).size() < api::kLineBytesMax);
}

TEST_CASE("each of few ranks is told all of where the others listen") {
  const api::CommAddress::Gloo gloo{.host = "10.1.2.3", .entries = {{.port = 1, .key = ""}, {.port = 2, .key = ""}}};
  const std::string blob = api::CommAddress{.nccl = std::nullopt, .gloo = gloo}.encode();
  AddressBook book;
  book.put(entry(1, 0, blob));
  book.put(entry(1, 1, blob));
  CHECK(book.told_to(1, JobId(1), 1)->blobs == std::vector<std::string>{blob, blob});
}

TEST_CASE("an older generation changes nothing, a newer one starts anew") {
  AddressBook book;
  book.put(entry(3, 0, "a"));
  book.put(entry(3, 1, "b"));
  CHECK(book.put(entry(2, 0, "old")) == AddressBook::Outcome::kStale);
  CHECK(book.told_to(0, JobId(1), 3)->blobs[0] == "a");
  CHECK(book.put(entry(4, 0, "c")) == AddressBook::Outcome::kWaiting);
  CHECK_FALSE(book.told_to(0, JobId(1), 3).has_value());
}

TEST_CASE("a rank that says the same again is answered alone; if one has moved, all are told") {
  AddressBook book;
  book.put(entry(1, 0, "a"));
  book.put(entry(1, 1, "b"));
  CHECK(book.put(entry(1, 1, "b")) == AddressBook::Outcome::kUnchanged);
  CHECK(book.put(entry(1, 1, "c")) == AddressBook::Outcome::kComplete);
  CHECK(book.told_to(0, JobId(1), 1)->blobs[1] == "c");
}

}  // namespace tidepool::leader
