#include "schedulerd/live/turn_writer.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

constexpr int kWriters = 50;  // a turn is often put before a new writer's thread has begun to wait for one
constexpr auto kForAnEarlyReturn = std::chrono::milliseconds(5);

class NoOutbox final : public Outbox {
 public:
  void post(std::vector<OutboxItem>) override {}
};

// A turn with one answer.
TurnWriter::Turn answering(TurnWriter::Done done) {
  leader::TurnResult result;
  result.answers.push_back({.item = 0, .receipt = Receipt{}});
  std::vector<TurnWriter::Done> answers;
  answers.push_back(std::move(done));
  const core::StageTimes stages([] { return Instant(); });
  return {.time = {},
          .clock = {},
          .result = std::move(result),
          .answers = std::move(answers),
          .shadow = {},
          .state = {},
          .picture = {},
          .took = {.round = {}, .commit = {}, .stages = stages}};
}

TEST_CASE("settle() waits for the first turn of a new writer") {
  test::TemporaryFolder folder;
  auto journal = Journal::open(folder / "journal.db", {});
  REQUIRE(journal.ok());
  NoOutbox outbox;
  Publisher publisher;
  for (int i = 0; i < kWriters; ++i) {
    std::promise<void> answering_began;
    std::promise<void> settled;
    std::future<void> early_return = settled.get_future();
    std::atomic<bool> answered = false;
    TurnWriter writer({*journal, outbox, publisher}, [] {});
    const Status put = writer.put(answering([&](const Result<Receipt>&) {
      answering_began.set_value();
      (void)early_return.wait_for(kForAnEarlyReturn);
      answered = true;
    }));
    REQUIRE(put.ok());
    answering_began.get_future().wait();
    REQUIRE(writer.settle().ok());
    const bool in_time = answered;
    settled.set_value();
    REQUIRE(in_time);
    REQUIRE(writer.written().turns == 1);
  }
}

}  // namespace
}  // namespace tidepool::live
