#include "schedulerd/live/store/retention.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "schedulerd/live/store/history.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

StoredClock at(std::int64_t seconds) {
  return {{"boot", 0, 0}, Instant() + Duration::seconds(seconds), 0};
}

// How many seconds lie between two jobs that end, and how many numbers between two events that are kept.
struct Pace {
  int job_every = 1;
  EventSeq event_apart = 1;
};

// Every second a fact, a decision and an event of some size, and a job that ends.
class Past {
 public:
  explicit Past(const JournalOptions& options, Pace pace = {}) : pace_(pace) {
    auto opened = Journal::open(dir_ / "j.db", options);
    REQUIRE(opened.ok());
    journal_.emplace(*std::move(opened));
  }

  void live(int seconds, const std::string& text = "") {
    for (int i = 0; i < seconds; ++i) {
      state_.now = Instant() + Duration::seconds(++now_);
      core::Event event;
      event.seq = static_cast<EventSeq>(now_) * pace_.event_apart;
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
      state_.next_event = event.seq + 1;
      REQUIRE(journal_->append(core::TimedFact{state_.now, core::ClockAdvanced{}}).ok());
      REQUIRE(journal_->append(decision).ok());
      REQUIRE(journal_->append(std::vector{event}).ok());
      if (now_ % pace_.job_every == 0) {
        REQUIRE(journal_->append(job.id, MetricPoint{.step = 1}).ok());
        REQUIRE(journal_->append_ended(job).ok());
      }
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
  Pace pace_;
};

// What is logged while it lives. No other thread may log meanwhile.
class Logged {
 public:
  Logged() {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~Logged() { spdlog::set_default_logger(before_); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  [[nodiscard]] int lines_with(const std::string& word) const {
    int count = 0;
    std::istringstream lines(text_.str());
    for (std::string line; std::getline(lines, line);) count += line.find(word) != std::string::npos ? 1 : 0;
    return count;
  }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
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

TEST_CASE("beyond the limit jobs that ended go with the events and decisions of their time, and no sooner") {
  for (const EventSeq apart : {EventSeq{1}, EventSeq{100}}) {
    INFO(apart);
    Past past({.vfs = "", .snapshot_every = 50, .bytes_max = 2 << 20}, {.job_every = 10, .event_apart = apart});
    past.live(3'000, std::string(4'000, 'x'));
    past.idle();
    const auto history = past.history();
    const auto oldest = static_cast<std::uint64_t>(history->oldest_event() / apart);
    CHECK(oldest > 2'000);
    CHECK(oldest < 2'950);
    CHECK(history->decisions(DecisionId(oldest), std::nullopt, 10).empty());
    for (std::uint64_t ended = 10; ended <= 3'000; ended += 10) {
      INFO(ended << " of " << oldest);
      CHECK((history->ended_job(JobId(ended)) != nullptr) == (ended >= oldest));
    }
  }
}

TEST_CASE("a limit that what a restart needs is beyond takes all before that, ends, and is told of once") {
  const Logged logged;
  Past past({.vfs = "", .snapshot_every = 50, .bytes_max = 1});
  for (int day = 0; day < 3; ++day) {
    past.live(500);
    past.idle();
    const auto heads = *past.journal().snapshots();
    REQUIRE(heads.size() == 2);
    const auto needed_since = heads[1].at.count_us() / 1'000'000;
    CHECK(past.history()->oldest_event() == static_cast<EventSeq>(needed_since));
    CHECK(past.history()->ended_job(JobId(static_cast<std::uint64_t>(needed_since))) != nullptr);
  }
  CHECK(logged.lines_with("event=retention_size_exceeded") == 1);
}

TEST_CASE("without a limit and before its time nothing goes") {
  Past past({.vfs = "", .snapshot_every = 50});
  past.live(500);
  past.idle();
  CHECK(past.history()->oldest_event() == 1);
  CHECK(past.history()->ended_job(JobId(1)) != nullptr);
}

TEST_CASE("brief lists of events leave out how far jobs are and audits that found nothing") {
  const test::TemporaryFolder dir;
  auto journal = Journal::open(dir / "j.db", {});
  REQUIRE(journal.ok());
  const auto audit = [](int used, bool checksum_ok) {
    return nlohmann::json{{"epoch", 1}, {"expected", 600}, {"used", used}, {"checksum_ok", checksum_ok}};
  };
  const std::vector<std::pair<const char*, nlohmann::json>> told = {
      {"job.started", nlohmann::json::object()}, {"job.progressed", {{"step", 20}}},
      {"data.epoch_audited", audit(600, true)},  {"data.epoch_audited", audit(599, true)},
      {"data.epoch_audited", audit(600, false)}, {"data.epoch_audited", {{"epoch", 2}}},
      {"job.progressed", {{"step", 40}}},        {"job.finished", nlohmann::json::object()},
  };
  EventSeq seq = 0;
  for (const auto& [type, data] : told) {
    core::Event event;
    event.seq = ++seq;
    event.type = type;
    event.job = JobId(4);
    event.data = data;
    REQUIRE(journal->append(std::vector{event}).ok());
  }
  REQUIRE(journal->commit(at(std::int64_t{1})).ok());
  auto history = SqliteHistory::open(dir / "j.db");
  REQUIRE(history.ok());
  const auto read = [&](const EventQuery& query) {
    std::vector<EventSeq> numbers;
    for (const auto& event : (*history)->events(query)) numbers.push_back(event.seq);
    return numbers;
  };
  const std::vector<EventSeq> kept = {1, 4, 5, 6, 8};
  CHECK(read({.brief = true, .limit = 9}) == kept);
  CHECK(read({.job = JobId(4), .brief = true, .limit = 9}) == kept);
  CHECK(read({.brief = true, .newest_first = true, .limit = 2}) == std::vector<EventSeq>{8, 6});
  CHECK(read({.job = JobId(4), .brief = true, .newest_first = true, .limit = 2}) == std::vector<EventSeq>{8, 6});
  CHECK(read({.limit = 9}).size() == 8);
}

}  // namespace tidepool::live
