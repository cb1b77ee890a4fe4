#include "schedulerd/live/store/retention.hpp"

#include <catch2/catch.hpp>

#include "schedulerd/live/store/history.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

StoredClock at(std::int64_t seconds) {
  return {{"boot", 0, 0}, Instant() + Duration::seconds(seconds), 0};
}

// Every second a fact, a decision, an event and a job that ends, of some size.
class Past {
 public:
  explicit Past(const JournalOptions& options) {
    auto opened = Journal::open(dir_ / "j.db", options);
    REQUIRE(opened.ok());
    journal_.emplace(*std::move(opened));
  }

  void live(int seconds, const std::string& text = "") {
    for (int i = 0; i < seconds; ++i) {
      state_.now = Instant() + Duration::seconds(++now_);
      core::Event event;
      event.seq = static_cast<EventSeq>(now_);
      event.at = state_.now;
      event.type = "job.resized";
      event.data = {{"text", text}};
      core::Decision decision;
      decision.id = DecisionId(static_cast<std::uint64_t>(now_));
      decision.at = state_.now;
      decision.policy = "capped@0123456789ab";
      decision.verdicts.push_back({JobId(static_cast<std::uint64_t>(now_)), {}, {}});
      core::Job job;
      job.id = JobId(static_cast<std::uint64_t>(now_));
      job.phase = core::phase::Ended{core::JobState::kCancelled, state_.now};
      state_.next_event = static_cast<EventSeq>(now_) + 1;
      REQUIRE(journal_->append(core::TimedFact{state_.now, core::ClockAdvanced{}}).ok());
      REQUIRE(journal_->append(decision).ok());
      REQUIRE(journal_->append(std::vector{event}).ok());
      REQUIRE(journal_->append(job.id, MetricPoint{.step = 1}).ok());
      REQUIRE(journal_->append_ended(job).ok());
      REQUIRE(journal_->add_upkeep(state_, at(now_)).ok());
      REQUIRE(journal_->commit(at(now_)).ok());
    }
  }
  void idle() {
    for (int i = 0; i < 1'000 && journal_->has_upkeep(); ++i) {
      REQUIRE(journal_->add_upkeep(state_, at(now_)).ok());
      REQUIRE(journal_->commit(at(now_)).ok());
    }
    REQUIRE_FALSE(journal_->has_upkeep());
  }
  [[nodiscard]] std::unique_ptr<SqliteHistory> history() const {
    auto history = SqliteHistory::open(dir_ / "j.db");
    REQUIRE(history.ok());
    return *std::move(history);
  }
  [[nodiscard]] Journal& journal() { return *journal_; }

 private:
  test::TemporaryFolder dir_;
  std::optional<Journal> journal_;
  core::ClusterState state_;
  std::int64_t now_ = 0;
};

}  // namespace

TEST_CASE("decisions, events, ended jobs and their measurements go when they are older than the retention") {
  Past past({.vfs = "", .snapshot_every = 50, .retention = Duration::seconds(600)});
  past.live(2'000);
  past.idle();
  const auto history = past.history();
  // The sweep of the newest snapshot may be a few seconds old.
  CHECK(history->oldest_event() >= 1'350);
  CHECK(history->oldest_event() <= 1'400);
  CHECK(history->decisions(DecisionId(1'350), std::nullopt, 10).empty());
  CHECK(history->decisions(std::nullopt, JobId(1'990), 10).size() == 1);
  CHECK(history->decisions(std::nullopt, JobId(100), 10).empty());
  CHECK(history->ended_job(JobId(1'400)) != nullptr);
  CHECK(history->ended_job(JobId(1'340)) == nullptr);
  CHECK(history->metrics(JobId(1'400), 10).size() == 1);
  CHECK(history->metrics(JobId(1'340), 10).empty());
  // The daemon goes on from the newest snapshot and the rows after it.
  const auto heads = *past.journal().snapshots();
  std::uint64_t rows = 0;
  CHECK(past.journal().replay(heads.back().seq, [&](const JournalRow&) { return ++rows, ok_status(); }).ok());
  CHECK(rows >= heads.front().seq - heads.back().seq);
}

TEST_CASE("a state that has become too large loses the oldest of its past, whatever their age") {
  Past past({.vfs = "", .snapshot_every = 50, .bytes_max = 2 << 20});
  past.live(3'000, std::string(4'000, 'x'));
  past.idle();
  const auto history = past.history();
  CHECK(history->oldest_event() > 2'000);
  CHECK(history->oldest_event() < 2'950);
  CHECK(history->events({.after = 2'999, .limit = 1}).size() == 1);
}

TEST_CASE("without a limit and before its time nothing goes") {
  Past past({.vfs = "", .snapshot_every = 50});
  past.live(500);
  past.idle();
  CHECK(past.history()->oldest_event() == 1);
  CHECK(past.history()->ended_job(JobId(1)) != nullptr);
}

}  // namespace tidepool::live
