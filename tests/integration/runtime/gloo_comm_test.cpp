// The communicator itself, ranks as threads over loopback: whatever happens to a peer, no rank waits long.
#include <catch2/catch.hpp>

#include <functional>
#include <numeric>
#include <thread>
#include <utility>

#include "tests/integration/runtime/meshes.hpp"
#include "tests/support/open_file_limit.hpp"

namespace tidepool::runtime {
namespace {

constexpr double kFarBelowTimeouts = 20;  // 30 s to connect, 600 s for an operation

double seconds_since(TimePoint begin) {
  return millis_between(begin, Clock::now()) / 1'000;
}

}  // namespace

TEST_CASE("collectives give every rank the same result") {
  const auto ranks = mesh_of(4);
  std::vector<std::vector<float>> values(4);
  std::vector<std::vector<std::int64_t>> gathered(4);
  std::vector<std::string> told = {"aaaa", "bbbb", "cccc", "dddd"};
  on_all(ranks, [&](GlooComm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    values[rank].assign(1'000, static_cast<float>(rank));
    static_cast<void>(comm.allreduce(values[rank]).ok());
    static_cast<void>(comm.broadcast(std::as_writable_bytes(std::span(told[rank])), 2).ok());
    const std::int64_t mine[2] = {comm.rank(), -comm.rank()};
    auto all = comm.allgather(mine);
    if (all.ok()) gathered[rank] = *all;
    comm.settle();
  });
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(values[rank] == std::vector<float>(1'000, 6.0F));
    CHECK(told[rank] == "cccc");
    CHECK(gathered[rank] == std::vector<std::int64_t>{0, 0, 1, -1, 2, -2, 3, -3});
  }
}

TEST_CASE("ranks that are told their own part of each address alone meet all the same") {
  const auto ranks = open_all(3);
  std::vector<Status> outcomes(3, ok_status());
  on_all(ranks, [&](GlooComm& comm) {
    const auto own = static_cast<std::size_t>(comm.rank());
    std::vector<api::CommAddress::Gloo> told;
    for (const auto& peer : ranks) {
      const std::string blob = api::CommAddress{.nccl = std::nullopt, .gloo = peer->address()}.encode();
      told.push_back(*api::CommAddress::decode(api::address_for_rank(blob, own))->gloo);
    }
    outcomes[own] = comm.connect(told);
    std::vector<float> values(8, 1.0F);
    if (outcomes[own].ok()) outcomes[own] = comm.allreduce(values);
    if (values.front() != 3.0F) outcomes[own] = invalid_argument("a wrong sum");
    comm.settle();
  });
  for (const Status& outcome : outcomes) CHECK(outcome.ok());
}

TEST_CASE("a rank learns of a death although it waits for another rank") {
  auto ranks = mesh_of(3);
  // Rank 0 waits for rank 1, which does not send; meanwhile rank 2 goes.
  const TimePoint begin = Clock::now();
  Status outcome = ok_status();
  std::thread waiting([&] {
    std::byte byte{};
    outcome = ranks[0]->broadcast({&byte, 1}, 1);
  });
  ranks.pop_back();
  waiting.join();
  CHECK(!outcome.ok());
  CHECK(seconds_since(begin) < kFarBelowTimeouts);
}

TEST_CASE("a rank that settles before it goes cuts no other off") {
  for (int round = 0; round < 10; ++round) {
    auto ranks = mesh_of(3);
    std::vector<Status> outcomes(3, ok_status());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&outcome = outcomes[rank], comm = std::exchange(ranks[rank], nullptr)]() mutable {
        // The root is done once the system has taken its bytes, long before the others have read them.
        std::vector<std::byte> bytes(4U << 20U);
        outcome = comm->broadcast(bytes, 0);
        comm->settle();
        comm.reset();
      });
    }
    for (auto& thread : threads) thread.join();
    for (const Status& outcome : outcomes) REQUIRE(outcome.ok());
  }
}

TEST_CASE("abort ends a blocked operation here and at the peers, and every later one") {
  const auto ranks = mesh_of(2);
  const TimePoint begin = Clock::now();
  Status outcome = ok_status();
  std::thread waiting([&] {
    std::vector<float> values(1 << 20U);
    outcome = ranks[0]->allreduce(values);
  });
  ranks[0]->abort();
  waiting.join();
  CHECK(!outcome.ok());
  std::vector<float> values(10);
  CHECK(!ranks[1]->allreduce(values).ok());
  CHECK(!ranks[0]->allreduce(values).ok());
  CHECK(seconds_since(begin) < kFarBelowTimeouts);
}

TEST_CASE("abort ends a connect that no rank answers") {
  const auto ranks = open_all(2);
  const std::vector<api::CommAddress::Gloo> addresses = {ranks[0]->address(), ranks[1]->address()};
  const TimePoint begin = Clock::now();
  Status outcome = ok_status();
  // One of the two sides listens until the other comes, which it never does.
  std::thread connecting([&] { outcome = ranks[0]->connect(addresses); });
  ranks[0]->abort();
  ranks[1]->abort();
  connecting.join();
  CHECK(!outcome.ok());
  CHECK(seconds_since(begin) < kFarBelowTimeouts);
}

TEST_CASE("an address for another number of ranks is refused in words") {
  const auto ranks = open_all(2);
  const Status outcome = ranks[0]->connect({ranks[0]->address(), {.host = "127.0.0.1", .entries = {{}, {}, {}}}});
  REQUIRE(!outcome.ok());
  CHECK(outcome.error().message.find("rank 1 sent a bad address") != std::string::npos);
}

TEST_CASE("a peer that this worker cannot reach is named before a connection is tried") {
  const auto ranks = open_all(2);
  auto there = ranks[1]->address();
  for (const char* host : {"10.1.2.3", "::1"}) {
    there.host = host;
    const Status outcome = ranks[0]->connect({ranks[0]->address(), there});
    REQUIRE(!outcome.ok());
    CHECK_THAT(outcome.error().message,
               Catch::Contains(std::string("rank 1 listens on ") + host) && Catch::Contains("--data-address"));
  }
}

TEST_CASE("a worker that may not open a connection to each of the others says so, and what to raise") {
  const test::OpenFileLimit limit;
  limit.set_soft(64);
  const auto comm = GlooComm::open({.rank = 0, .size = 100});
  REQUIRE(!comm.ok());
  CHECK(comm.error().code == ErrorCode::kIo);
  CHECK_THAT(comm.error().message, Catch::Contains("each of its 99 others") && Catch::Contains("ulimit -Hn"));
}

TEST_CASE("a worker lets go of its connections to many others in a moment") {
  auto comm = GlooComm::open({.rank = 0, .size = 512});
  REQUIRE(comm.ok());
  const TimePoint begin = Clock::now();
  comm->reset();
  CHECK(seconds_since(begin) < 2.5);  // a turn of 10 ms for each would be 5 s
}

TEST_CASE("ranks meet over IPv6") {
  const auto ranks = open_all(3, "::1");
  connect_all(ranks);
  std::vector<std::vector<float>> values(3, std::vector<float>(10, 1.0F));
  on_all(ranks, [&](GlooComm& comm) {
    static_cast<void>(comm.allreduce(values[static_cast<std::size_t>(comm.rank())]).ok());
    comm.settle();
  });
  for (const auto& each : values) CHECK(each == std::vector<float>(10, 3.0F));
}

}  // namespace tidepool::runtime
