// Ranks as threads around one table: what hand_over() decides, without any network.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>

#include "workers/runtime/handover.hpp"

namespace tidepool::runtime {
namespace {

// An exchange between ranks: each writes its part, waits for the others, and reads what it needs.
struct Table {
  explicit Table(std::size_t seats) : numbers(seats), together(static_cast<std::ptrdiff_t>(seats)) {}
  std::vector<std::vector<std::int64_t>> numbers;
  std::span<std::byte> root_bytes;
  std::barrier<> together;
};

class TableComm final : public Comm {
 public:
  TableComm(Table& table, int rank, bool breaks) : table_(table), rank_(rank), breaks_(breaks) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(table_.numbers.size()); }
  [[nodiscard]] Status allreduce(std::span<float>) override { return ok_status(); }
  [[nodiscard]] Status broadcast(std::span<std::byte> bytes, int root) override {
    if (rank_ == root) table_.root_bytes = bytes;
    table_.together.arrive_and_wait();
    if (rank_ != root) std::copy(table_.root_bytes.begin(), table_.root_bytes.end(), bytes.begin());
    table_.together.arrive_and_wait();
    return breaks_ ? Status(io_error("broken after the bytes came")) : ok_status();
  }
  [[nodiscard]] Result<std::vector<std::int64_t>> allgather(std::span<const std::int64_t> mine) override {
    table_.numbers[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    table_.together.arrive_and_wait();
    std::vector<std::int64_t> all;
    for (const auto& part : table_.numbers) all.insert(all.end(), part.begin(), part.end());
    table_.together.arrive_and_wait();
    return all;
  }
  void settle() override {}
  void abort() noexcept override {}

 private:
  Table& table_;
  int rank_;
  bool breaks_;
};

struct Rank {
  Progress progress;
  std::array<float, 3> values{};
  std::string name = "values";
  std::uint64_t seed = 1;
  bool breaks = false;
  Result<HandoverOutcome> outcome = io_error("not run");
};

void run(std::vector<Rank>& ranks) {
  Table table(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      TableComm comm(table, static_cast<int>(i), ranks[i].breaks);
      ReplicaState state;
      state.require_same("samples", 100);
      state.require_same("seed", ranks[i].seed);
      state.add(ranks[i].name, std::as_writable_bytes(std::span(ranks[i].values)));
      StateGate gate;
      StateTransfer transfer(state, gate, {});
      ranks[i].outcome = hand_over(comm, state, ranks[i].progress, {.transfer = transfer});
    });
  }
  for (auto& thread : threads) thread.join();
}

Rank at_step(std::int64_t steps, float value) {
  Rank rank;
  rank.progress = {.has_state = true, .steps = steps};
  rank.progress.ledger.cursor = static_cast<std::uint64_t>(steps);
  rank.values.fill(value);
  return rank;
}

}  // namespace

TEST_CASE("all ranks go on from the newest committed step") {
  std::vector<Rank> ranks = {at_step(7, 1), at_step(8, 2), Rank{}, at_step(8, 2)};
  run(ranks);
  for (const Rank& rank : ranks) {
    REQUIRE(rank.outcome.ok());
    CHECK(rank.outcome->progress.steps == 8);
    CHECK(rank.outcome->progress.ledger.cursor == 8);
    CHECK(rank.outcome->bytes_moved == 24);  // two receivers of three floats
    CHECK(rank.values[2] == 2);
  }
  CHECK(ranks[0].outcome->received);
  CHECK(!ranks[3].outcome->received);
}

TEST_CASE("a joining worker at rank 0 does not pass its initial values on") {
  std::vector<Rank> ranks = {Rank{}, at_step(0, 5)};
  run(ranks);
  CHECK(ranks[0].values[0] == 5);
  CHECK(ranks[1].values[0] == 5);
}

TEST_CASE("when no rank has a state, all start from rank 0's") {
  std::vector<Rank> ranks(3);
  ranks[0].values.fill(1);
  ranks[2].values.fill(9);
  run(ranks);
  for (const Rank& rank : ranks) CHECK(rank.values[1] == 1);
}

TEST_CASE("a joining worker with another state leaves, and those that train go on without it") {
  for (const std::size_t odd : {0U, 1U, 2U}) {
    std::vector<Rank> ranks = {at_step(8, 1), at_step(8, 1), at_step(8, 1)};
    ranks[odd] = Rank{};
    ranks[odd].name = "other";
    run(ranks);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      REQUIRE_FALSE(ranks[rank].outcome.ok());
      const ErrorCode wanted = rank == odd ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable;
      CHECK(ranks[rank].outcome.error().code == wanted);
    }
  }
}

TEST_CASE("replicas at the same step move nothing") {
  std::vector<Rank> ranks = {at_step(4, 3), at_step(4, 3)};
  run(ranks);
  CHECK(ranks[0].outcome->bytes_moved == 0);
}

TEST_CASE("a handover that breaks leaves the receiver's own state as it was") {
  std::vector<Rank> ranks = {at_step(8, 2), at_step(7, 1)};
  ranks[1].breaks = true;
  run(ranks);
  CHECK(!ranks[1].outcome.ok());
  CHECK(ranks[1].values[0] == 1);
}

TEST_CASE("workers of different programs are told in what they differ") {
  std::vector<Rank> ranks = {Rank{}, Rank{}, Rank{}};
  ranks[1].name = "other";
  ranks[2].name = "other";
  ranks[2].seed = 2;
  run(ranks);
  const std::string rule = ": all workers of a job must run the same program on the same data";
  const auto message = [&](std::size_t rank) {
    REQUIRE_FALSE(ranks[rank].outcome.ok());
    return ranks[rank].outcome.error().message;
  };
  CHECK(message(0) == "a worker, rank 1, differs from rank 0 in registered state, and leaves" + rule);
  CHECK(message(1) == "this worker, rank 1, differs from rank 0 in registered state" + rule);
  CHECK(message(2) == "this worker, rank 2, differs from rank 0 in seed, registered state" + rule);
}

}  // namespace tidepool::runtime
