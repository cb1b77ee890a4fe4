// A state directory that schema version 7 has left, taken up by this one.
#include "schedulerd/live/store/journal_upgrade.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/digest.hpp"
#include "core/codec/codec.hpp"
#include "policies/registry.hpp"
#include "schedulerd/live/store/history.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "schedulerd/live/store/journal_schema.hpp"
#include "schedulerd/live/store/recovery.hpp"
#include "tests/support/loop_world.hpp"

namespace tidepool::live {
namespace {

using core::JobState;

void execute(const std::string& file, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  char* why = nullptr;
  const int outcome = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &why);
  INFO((why == nullptr ? "" : why));
  CHECK(outcome == SQLITE_OK);
  sqlite3_close(database);
}

// The old database, as its dump beside the tests has it.
std::string old_database(const test::TemporaryFolder& dir) {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  std::ifstream dump(std::string(source) + "/tests/data/journal_v7.sql");
  std::ostringstream sql;
  sql << dump.rdbuf();
  REQUIRE(!sql.str().empty());
  const std::string file = dir / "journal.db";
  execute(file, sql.str());
  return file;
}

// Under the policy that decided there.
core::Engine::Parts parts() {
  auto parts = test::engine_parts();
  parts.policies = policies::make_policies("tidal").value();
  return parts;
}

// What a start finds, or why it finds nothing.
struct Start {
  explicit Start(const std::string& file) {
    auto opened = Journal::open(file, {});
    if (!opened.ok()) {
      failure = opened.error().message;
      return;
    }
    journal.emplace(*std::move(opened));
    auto found = recover(*journal, parts());
    if (!found.ok()) {
      failure = found.error().message;
      return;
    }
    rows = found->rows_replayed;
    state = found->engine.view();
  }
  std::optional<Journal> journal;
  core::ClusterState state;
  std::uint64_t rows = 0;
  std::string failure;
};

}  // namespace

TEST_CASE("a state directory of schema version 7 is taken up with all that it holds") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  const Start start(file);
  REQUIRE(start.failure.empty());
  CHECK(start.rows == 19);
  REQUIRE(start.state.jobs.size() == 1);
  CHECK(start.state.find_job(JobId(5))->spec.name == "waits-e");
  CHECK(start.state.next_job == 8);
  CHECK(start.state.ended_counts.succeeded == 2);
  CHECK(start.state.ended_counts.failed == 1);
  CHECK(start.state.ended_counts.cancelled == 3);

  auto history = *SqliteHistory::open(file);
  const std::map<int, std::pair<std::string, JobState>> ended = {
      {1, {"done-a", JobState::kSucceeded}},      {2, {"done-b", JobState::kSucceeded}},
      {3, {"cancelled-c", JobState::kCancelled}}, {4, {"failed-d", JobState::kFailed}},
      {6, {"runs-f", JobState::kCancelled}},      {7, {"cancelled-g", JobState::kCancelled}}};
  for (const auto& [number, expected] : ended) {
    INFO(number);
    const auto job = history->ended_job(JobId(static_cast<std::uint64_t>(number)));
    REQUIRE(job != nullptr);
    CHECK(job->spec.name == expected.first);
    CHECK(job->state() == expected.second);
    CHECK_FALSE(history->events({.job = job->id, .limit = 500}).empty());
    CHECK_FALSE(history->decisions(std::nullopt, job->id, 500).empty());
  }
  CHECK(history->ended_jobs({.before = {}, .states = {}, .tenant = "other", .name = "", .subtree = "", .limit = 10})
            .size() == 1);
}

TEST_CASE("a state directory of schema version 8 goes on with its ended jobs, which are found by name as well") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  REQUIRE(Start(file).failure.empty());
  execute(file,
          "DROP INDEX ended_jobs_by_name; ALTER TABLE ended_jobs DROP COLUMN listed;"
          "ALTER TABLE events DROP COLUMN actor; PRAGMA user_version=8");
  const Start start(file);
  REQUIRE(start.failure.empty());
  auto history = *SqliteHistory::open(file);
  const auto rows =
      history->ended_jobs({.before = {}, .states = {}, .tenant = "", .name = "done-b", .subtree = "", .limit = 10});
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().id == JobId(2));
  CHECK(rows.front().state == "succeeded");
  CHECK(rows.front().listed.empty());
  CHECK(
      history->ended_jobs({.before = {}, .states = {}, .tenant = "", .name = "", .subtree = "", .limit = 10}).size() ==
      6);
}

TEST_CASE("jobs that were stored with their files as texts have them typed, those that have ended as well") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  const Start start(file);
  REQUIRE(start.failure.empty());
  const core::RunSpec& waiting = *start.state.find_job(JobId(5))->spec.run;
  CHECK(waiting.trainer == "charlm");
  CHECK(waiting.args.at("steps") == core::Argument{core::Argument::Plain(std::int64_t{12})});
  auto history = *SqliteHistory::open(file);
  CHECK(history->ended_job(JobId(4))->spec.run->command == std::vector<std::string>{"/bin/false"});
  CHECK(history->ended_job(JobId(1))->spec.run->args.at("steps") ==
        core::Argument{core::Argument::Plain(std::int64_t{60})});
}

TEST_CASE("a state directory of schema version 9 goes on as it is") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  const std::uint64_t digest = core::digest_of(Start(file).state);
  execute(file, "ALTER TABLE events DROP COLUMN actor; PRAGMA user_version=9");
  const Start start(file);
  REQUIRE(start.failure.empty());
  CHECK(core::digest_of(start.state) == digest);
}

TEST_CASE("a state directory of schema version 10 keeps its measurements, and takes a loss that is no number") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  {
    REQUIRE(Start(file).failure.empty());
  }
  execute(
      file,
      "DROP TABLE job_metrics; CREATE TABLE job_metrics(job INTEGER NOT NULL, ordinal INTEGER NOT NULL, at_us, step,"
      " size, generation, samples_per_second, step_ms, loss REAL NOT NULL, compute_ms, global_batch, noise_scale,"
      " PRIMARY KEY(job, ordinal)) WITHOUT ROWID;"
      "INSERT INTO job_metrics VALUES(1, 0, 5, 7, 2, 1, 10.0, 3.0, 2.5, '[]', 64, NULL);"
      "ALTER TABLE events DROP COLUMN actor; PRAGMA user_version=10");
  Start start(file);
  REQUIRE(start.failure.empty());
  REQUIRE(start.journal->append(JobId(1), MetricPoint{.step = 8, .loss = std::nan("")}).ok());
  REQUIRE(start.journal->commit(**start.journal->clock()).ok());
  const auto points = SqliteHistory::open(file).value()->metrics(JobId(1), 10);
  REQUIRE(points.size() == 2);
  CHECK(points[0].loss == 2.5);
  CHECK(std::isnan(points[1].loss));
}

TEST_CASE("a state directory of schema version 11 goes on with its measurements, and its events are of no user") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  {
    Start start(file);
    REQUIRE(start.failure.empty());
    REQUIRE(start.journal->append(JobId(77), MetricPoint{.step = 8, .loss = std::nan("")}).ok());
    REQUIRE(start.journal->commit(**start.journal->clock()).ok());
  }
  execute(file, "ALTER TABLE events DROP COLUMN actor; DROP INDEX events_by_type; PRAGMA user_version=11");
  Start start(file);
  REQUIRE(start.failure.empty());
  core::Event event;
  event.seq = 1'000;
  event.type = "job.submitted";
  event.actor = "t1";
  REQUIRE(start.journal->append(std::vector{event}).ok());
  REQUIRE(start.journal->commit(**start.journal->clock()).ok());
  auto history = *SqliteHistory::open(file);
  CHECK(history->metrics(JobId(77), 10).size() == 1);
  const auto events = history->events({.type = "job.submitted", .limit = 500});
  REQUIRE(events.size() > 1);
  CHECK(events.front().actor.empty());
  CHECK(events.back().actor == "t1");
}

namespace {

// The account of the pool begins where its state is first read by a version that has one (adr 0030), and means of what
// was measured are those of the versions that kept them: rates, and costs by size (adr 0035).
std::uint64_t digest_but_for_accounts_and_means(core::ClusterState state) {
  state.pool_ledger = {};
  std::vector<JobId> jobs;
  for (const auto& [id, job] : state.jobs) jobs.push_back(id);
  for (const JobId id : jobs) {
    core::Job& job = state.mutable_job(id);
    job.measurements = {};
    job.planned.reset();  // its words name rates
  }
  Digest digest;
  for (const auto& [id, job] : state.ended) {
    digest.mix(id.number()).mix(job->tenant).mix(static_cast<std::uint64_t>(job->slot_time.count_us()));
  }
  state.ended = {};
  digest.mix(core::digest_of(state));
  return digest.value();
}

}  // namespace

TEST_CASE("an upgraded journal leads to the same state from its snapshot as from its first row, time after time") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  std::uint64_t digest = 0;
  std::uint64_t but_for_accounts_and_means = 0;
  {
    Start start(file);
    REQUIRE(start.failure.empty());
    digest = core::digest_of(start.state);
    but_for_accounts_and_means = digest_but_for_accounts_and_means(start.state);
    REQUIRE(start.journal->snapshots()->size() == 1);
  }
  {
    Start again(file);
    REQUIRE(again.failure.empty());
    CHECK(core::digest_of(again.state) == digest);
    REQUIRE(again.journal->snapshot(again.state, **again.journal->clock()).ok());
  }
  CHECK(core::digest_of(Start(file).state) == digest);
  execute(file, "DELETE FROM snapshots; DELETE FROM snapshot_rows; DELETE FROM ended_jobs");
  const Start anew(file);
  REQUIRE(anew.failure.empty());
  CHECK(anew.rows == 81);
  CHECK(digest_but_for_accounts_and_means(anew.state) == but_for_accounts_and_means);
}

TEST_CASE("an upgrade that cannot read its snapshot changes nothing, and a damaged snapshot is passed over") {
  const test::TemporaryFolder dir;
  const std::string file = old_database(dir);
  execute(file, "UPDATE snapshots SET body=replace(body,'done-a','done-x')");
  const Start start(file);
  REQUIRE(start.failure.empty());
  CHECK(start.rows == 81);  // from the first row

  const test::TemporaryFolder other;
  const std::string old = old_database(other);
  execute(old, "CREATE TABLE snapshot_rows(in_the_way)");
  CHECK_FALSE(Start(old).failure.empty());
  execute(old, "DROP TABLE snapshot_rows");
  const Start after(old);
  REQUIRE(after.failure.empty());
  CHECK(after.rows == 19);
}

TEST_CASE("schema versions older than the one before, and newer ones, are refused") {
  for (const int version : {kOldestVersion - 1, kSchemaVersion + 1}) {
    const test::TemporaryFolder dir;
    const std::string file = old_database(dir);
    execute(file, "PRAGMA user_version=" + std::to_string(version));
    CHECK(Start(file).failure.find("has schema version " + std::to_string(version)) != std::string::npos);
  }
}

}  // namespace tidepool::live
