#include "schedulerd/live/store/journal.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "core/codec/codec.hpp"
#include "schedulerd/live/journal_reads.hpp"
#include "schedulerd/live/store/ended_lists.hpp"
#include "schedulerd/live/store/history.hpp"
#include "schedulerd/live/store/journal_mark.hpp"
#include "schedulerd/live/store/journal_schema.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

core::TimedFact fact(std::int64_t at_us) {
  return {Instant::from_micros(at_us), core::NodeLost{NodeId(1), "gone at " + std::to_string(at_us)}};
}

StoredClock clock_at(std::int64_t at_us) {
  return {{"boot", at_us, 1'795'000'000'000'000 + at_us}, Instant::from_micros(at_us), 1'795'000'000'000'000};
}

Journal open(const std::string& path, JournalOptions options = {}) {
  auto journal = Journal::open(path, options);
  if (!journal.ok()) FAIL(journal.error().message);
  return *std::move(journal);
}

std::vector<std::string> bodies(Journal& journal, std::uint64_t after = 0) {
  std::vector<std::string> found;
  const Status read = journal.replay(after, [&](const JournalRow& row) {
    found.push_back(row.body);
    return ok_status();
  });
  if (!read.ok()) found.push_back("refused: " + read.error().message);
  return found;
}

void tamper(const std::string& path, const char* sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

}  // namespace

TEST_CASE("an ended job is stored with what lists show of it, and is found by its state, its tenant and its name") {
  const test::TemporaryFolder dir;
  JournalOptions options;
  options.listed_fields = [](const core::Job& job) { return "error of " + job.spec.name; };
  Journal journal = open(dir / "j.db", options);
  core::Job job;
  job.id = JobId(4);
  job.spec.name = "one";
  job.spec.tenant = "red";
  job.phase = core::phase::Ended{core::JobState::kFailed, Instant::from_micros(9)};
  job.submitted_at = Instant::from_micros(5);
  REQUIRE(journal.append_ended(job).ok());
  REQUIRE(journal.commit(clock_at(1)).ok());
  auto history = *SqliteHistory::open(dir / "j.db");
  const auto found = [&](const std::string& tenant, const std::string& name, core::JobState state) {
    return history->ended_jobs(
        {.before = {}, .states = {state}, .tenant = tenant, .name = name, .subtree = "", .limit = 5});
  };
  REQUIRE(found("red", "one", core::JobState::kFailed).size() == 1);
  const EndedRow row = found("", "", core::JobState::kFailed).at(0);
  CHECK(row.id == job.id);
  CHECK(row.tenant == "red");
  CHECK(row.name == "one");
  CHECK(row.state == "failed");
  CHECK(row.submitted_at == job.submitted_at);
  CHECK(row.finished_at == *job.phase.ended_at());
  CHECK(row.listed == "error of one");
  CHECK(found("blue", "one", core::JobState::kFailed).empty());
  CHECK(found("red", "two", core::JobState::kFailed).empty());
  CHECK(found("red", "one", core::JobState::kSucceeded).empty());
}

TEST_CASE("a tenant's ended jobs are listed with those of the tenants below it") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  for (const char* tenant : {"red", "red/vision", "redder", "blue"}) {
    core::Job job;
    job.id = JobId(std::string_view(tenant).size());
    job.spec.name = "one";
    job.spec.tenant = tenant;
    job.phase = core::phase::Ended{core::JobState::kFailed, Instant::from_micros(9)};
    REQUIRE(journal.append_ended(job).ok());
  }
  REQUIRE(journal.commit(clock_at(1)).ok());
  auto history = *SqliteHistory::open(dir / "j.db");
  const auto seen_by = [&](const std::string& subtree, const std::string& name, std::vector<core::JobState> states) {
    std::vector<std::string> tenants;
    const EndedQuery query{
        .before = {}, .states = std::move(states), .tenant = "", .name = name, .subtree = subtree, .limit = 5};
    for (const auto& row : history->ended_jobs(query)) tenants.push_back(row.tenant);
    return tenants;
  };
  const std::vector<std::string> red = {"red/vision", "red"};
  CHECK(seen_by("red", "", {}) == red);
  CHECK(seen_by("red", "", {core::JobState::kFailed}) == red);
  CHECK(seen_by("red", "one", {}) == red);
  CHECK(seen_by("red/vision", "", {}) == std::vector<std::string>{"red/vision"});
  CHECK(seen_by("", "", {}).size() == 4);
  // Those that lie below it in the tree have names of their own.
  const auto with_blue = [&](const std::string& name, std::vector<core::JobState> states) {
    return history
        ->ended_jobs({.before = {},
                      .states = std::move(states),
                      .tenant = "",
                      .name = name,
                      .subtree = "red",
                      .below = {"blue", "gr\"een"},
                      .limit = 5})
        .size();
  };
  CHECK(with_blue("", {}) == 3);
  CHECK(with_blue("", {core::JobState::kFailed}) == 3);
  CHECK(with_blue("one", {}) == 3);
}

TEST_CASE("ended jobs of several tenants, states and a name are listed as one, newest first, from page to page") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  for (std::uint64_t id = 1; id <= 12; ++id) {
    core::Job job;
    job.id = JobId(id);
    job.spec.name = id % 2 == 0 ? "even" : "odd";
    job.spec.tenant = id % 3 == 0 ? "red" : id % 3 == 1 ? "red/a" : "blue";
    job.phase =
        core::phase::Ended{id % 4 == 0 ? core::JobState::kFailed : core::JobState::kSucceeded, Instant::from_micros(9)};
    REQUIRE(journal.append_ended(job).ok());
  }
  REQUIRE(journal.commit(clock_at(1)).ok());
  auto history = *SqliteHistory::open(dir / "j.db");
  const auto listed = [&](EndedQuery query) {
    std::vector<std::uint64_t> ids;
    for (const auto& row : history->ended_jobs(query)) ids.push_back(row.id.number());
    return ids;
  };
  using Ids = std::vector<std::uint64_t>;
  CHECK(listed({.subtree = "red", .limit = 4}) == Ids{12, 10, 9, 7});
  CHECK(listed({.before = JobId(7), .subtree = "red", .limit = 4}) == Ids{6, 4, 3, 1});
  CHECK(listed({.states = {core::JobState::kFailed}, .subtree = "red", .limit = 4}) == Ids{12, 4});
  CHECK(listed({.name = "odd", .subtree = "red", .limit = 9}) == Ids{9, 7, 3, 1});
  CHECK(listed({.states = {core::JobState::kSucceeded}, .name = "even", .limit = 9}) == Ids{10, 6, 2});
  CHECK(listed({.tenant = "blue", .subtree = "red", .limit = 9}).empty());
  CHECK(listed({.tenant = "blue", .subtree = "red", .below = {"blue"}, .limit = 2}) == Ids{11, 8});
  CHECK(listed({.subtree = "red", .below = {"blue", "blue"}, .limit = 3}) == Ids{12, 11, 10});
}

TEST_CASE("jobs that may have used something in a range of time are read in parts, each once") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  for (std::uint64_t id = 1; id <= 9; ++id) {
    core::Job job;
    job.id = JobId(id);
    job.spec.tenant = id == 5 ? "blue" : "red";
    job.submitted_at = Instant::from_micros(id == 7 ? 200 : 1);
    job.phase = core::phase::Ended{core::JobState::kSucceeded, Instant::from_micros(id < 3 ? 10 : 100)};
    REQUIRE(journal.append_ended(job).ok());
  }
  REQUIRE(journal.commit(clock_at(1)).ok());
  auto history = *SqliteHistory::open(dir / "j.db");
  EndedRange range{.since = Instant::from_micros(50),
                   .until = Instant::from_micros(150),
                   .after = std::nullopt,
                   .sees = [](const std::string& tenant) { return tenant == "red"; }};
  std::vector<std::uint64_t> found;
  int parts = 0;
  for (auto part = history->ended_in(range, 2); part.next; part = history->ended_in(range, 2)) {
    for (const auto& job : part.jobs) found.push_back(job->id.number());
    range.after = part.next;
    ++parts;
  }
  CHECK(found == std::vector<std::uint64_t>{3, 4, 6, 8, 9});
  CHECK(parts == 4);
}

TEST_CASE("lists of the past follow an index, whatever is asked") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
  }
  auto database = Database::open(dir / "j.db", {.read_only = true, .vfs = ""});
  REQUIRE(database.ok());
  for (const char* text : {kEndedAll, kEndedOfState, kEndedOfName, kEndedRow, kNextOfTenant, kNextOfTenantAndName,
                           kNextTenant, kNextTenantOfName, kEndedIn, kEventsOfType, kNewestEventsOfType,
                           "SELECT data FROM events WHERE node=?1 AND seq>?2 AND seq<?3 ORDER BY seq DESC"}) {
    INFO(text);
    auto plan = database->prepare((std::string("EXPLAIN QUERY PLAN ") + text).c_str());
    REQUIRE(plan.ok());
    int steps = 0;
    REQUIRE(plan->each([&](const Row& row) {
                  ++steps;
                  CHECK(row.text(3).starts_with("SEARCH "));
                  // By its key alone all events would be read.
                  const bool of_events = std::string_view(text).find("FROM events") != std::string_view::npos;
                  CHECK((!of_events || row.text(3).find("USING INDEX events_by_") != std::string::npos));
                })
                .ok());
    CHECK(steps == 1);  // a second would be a sort
  }
}

TEST_CASE("facts come back in order, with the clock of their batch") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
    REQUIRE(journal.append(fact(10)).ok());
    REQUIRE(journal.append(fact(20)).ok());
    REQUIRE(journal.commit(clock_at(25)).ok());
  }
  Journal journal = open(dir / "j.db");
  CHECK(bodies(journal).size() == 2);
  CHECK(journal.last_seq() == 2);
  const auto clock = journal.clock();
  REQUIRE(clock.ok());
  REQUIRE(clock->has_value());
  CHECK((*clock)->at == Instant::from_micros(25));
  CHECK((*clock)->reading.boot_id == "boot");
}

TEST_CASE("what was not committed is not there") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
    REQUIRE(journal.append(fact(10)).ok());
    REQUIRE(journal.commit(clock_at(10)).ok());
    REQUIRE(journal.append(fact(20)).ok());
  }
  Journal journal = open(dir / "j.db");
  CHECK(bodies(journal).size() == 1);
}

TEST_CASE("an idempotency key is known once it is committed, after a restart, and for its token only") {
  const test::TemporaryFolder dir;
  const Idempotency request{.key = "k", .token_id = "t", .request_hash = "h"};
  {
    Journal journal = open(dir / "j.db");
    const auto reads = JournalReads::open(dir / "j.db").value();
    CHECK_FALSE(reads->receipt_for(request)->has_value());
    REQUIRE(journal.append(request, Receipt{.job = JobId(7)}, 100).ok());
    CHECK_FALSE(reads->receipt_for(request)->has_value());
    REQUIRE(journal.commit(clock_at(1)).ok());
    REQUIRE((*reads->receipt_for(request))->job == JobId(7));
  }
  const Journal journal = open(dir / "j.db");
  const auto reads = JournalReads::open(dir / "j.db").value();
  REQUIRE(reads->receipt_for(request)->has_value());
  CHECK((*reads->receipt_for(request))->request_hash == "h");
  CHECK_FALSE(reads->receipt_for({.key = "k", .token_id = "other", .request_hash = "h"})->has_value());
}

TEST_CASE("an idempotency key is forgotten after 24 hours") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  const auto reads = JournalReads::open(dir / "j.db").value();
  const Idempotency request{.key = "k", .token_id = "t", .request_hash = "h"};
  REQUIRE(journal.append(request, Receipt{}, 1'795'000'000).ok());
  REQUIRE(journal.commit(clock_at(0)).ok());
  REQUIRE(journal.snapshot({}, clock_at(86'399LL * 1'000'000)).ok());
  CHECK(reads->receipt_for(request)->has_value());
  REQUIRE(journal.snapshot({}, clock_at(86'402LL * 1'000'000)).ok());
  CHECK_FALSE(reads->receipt_for(request)->has_value());
}

TEST_CASE("a damaged row is refused by its number") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
    for (int i = 1; i <= 3; ++i) REQUIRE(journal.append(fact(i)).ok());
    REQUIRE(journal.commit(clock_at(5)).ok());
  }
  tamper(dir / "j.db", "UPDATE journal SET body=replace(body,'gone','gome') WHERE seq=2");
  Journal journal = open(dir / "j.db");
  CHECK(bodies(journal).back().find("journal row 2 is damaged") != std::string::npos);
}

TEST_CASE("a whole row that cannot be applied is another version's, and no backup is asked for") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  for (int i = 1; i <= 2; ++i) REQUIRE(journal.append(fact(i)).ok());
  REQUIRE(journal.commit(clock_at(5)).ok());
  int asked = 0;
  const Status refused = journal.replay(0, [&](const JournalRow&) -> Status {
    return ++asked == 2 ? Status(invalid_argument("no such fact")) : ok_status();
  });
  REQUIRE_FALSE(refused.ok());
  CHECK(asked == 2);
  CHECK(refused.error().code == ErrorCode::kConflict);  // the daemon ends with 2, and is not started again
  CHECK(refused.error().message.find("journal row 2 cannot be applied by schedulerd ") != std::string::npos);
  CHECK(refused.error().message.find("(no such fact)") != std::string::npos);
  CHECK(refused.error().message.find("backup") == std::string::npos);
}

TEST_CASE("a missing row and a missing end are refused") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
    for (int i = 1; i <= 3; ++i) REQUIRE(journal.append(fact(i)).ok());
    REQUIRE(journal.commit(clock_at(5)).ok());
  }
  tamper(dir / "j.db", "DELETE FROM journal WHERE seq=2");
  {
    Journal journal = open(dir / "j.db");
    CHECK(bodies(journal).back().find("journal row 2 is missing") != std::string::npos);
  }
  tamper(dir / "j.db", "DELETE FROM journal WHERE seq=3");
  const auto refused = Journal::open(dir / "j.db", {});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("ends at row 1 but row 3 was acknowledged") != std::string::npos);
}

TEST_CASE("a journal that has lost its write-ahead log is refused by the mark") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
    REQUIRE(journal.append(fact(1)).ok());
    REQUIRE(journal.commit(clock_at(1)).ok());
    // Killed here: the row is only in the log. Then the log is lost.
    std::filesystem::copy_file(dir / "j.db", dir / "k.db");
    std::filesystem::copy_file(dir / "j.db.mark", dir / "k.db.mark");
  }
  CHECK_FALSE(Journal::open(dir / "k.db", {}).ok());
  CHECK(Journal::open(dir / "j.db", {}).ok());
}

TEST_CASE("a newer schema is refused without a write") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
  }
  const std::string newer = std::to_string(kSchemaVersion + 1);
  tamper(dir / "j.db", ("PRAGMA user_version=" + newer).c_str());
  const auto refused = Journal::open(dir / "j.db", {});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("schema version " + newer) != std::string::npos);
  CHECK(refused.error().code == ErrorCode::kConflict);  // no failure of the disk: a unit is not to start it again
}

TEST_CASE("a snapshot lets old rows go, and the rows after the older snapshot stay") {
  const test::TemporaryFolder dir;
  JournalOptions options;
  options.retention = Duration::seconds(0);
  Journal journal = open(dir / "j.db", options);
  core::ClusterState state;
  for (int i = 1; i <= 6; ++i) {
    REQUIRE(journal.append(fact(i)).ok());
    REQUIRE(journal.commit(clock_at(i)).ok());
    if (i % 2 == 0) REQUIRE(journal.snapshot(state, clock_at(i + 1)).ok());
  }
  const auto snapshots = journal.snapshots();
  REQUIRE(snapshots.ok());
  REQUIRE(snapshots->size() == 2);
  CHECK((*snapshots)[0].seq == 6);
  CHECK((*snapshots)[1].seq == 4);
  CHECK(journal.state_of(4)->has_value());
  CHECK(bodies(journal, 4).size() == 2);
  CHECK(bodies(journal, 0).back().find("row 1 is missing") != std::string::npos);
}

TEST_CASE("readers find events, decisions, measurements and tokens") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  core::Event event;
  event.seq = 1;
  event.type = "job.submitted";
  event.job = JobId(4);
  event.data = {{"name", "n"}};
  core::Decision decision;
  decision.id = DecisionId(1);
  decision.verdicts.push_back({JobId(4), {}, {}});
  REQUIRE(journal.append(std::vector{event}).ok());
  REQUIRE(journal.append(decision).ok());
  for (int i = 0; i < 100; ++i) {
    REQUIRE(journal.append(JobId(4), MetricPoint{.step = i, .size = 2, .compute_ms = {1.5, 2.5}}).ok());
  }
  REQUIRE(journal.append(JobId(5), MetricPoint{.step = 1, .global_batch = 512, .noise_scale = 1930.5}).ok());
  REQUIRE(journal.append(JobId(6), MetricPoint{.step = 1, .loss = std::nan("")}).ok());  // its training diverged
  REQUIRE(journal.append(TokenRecord{.id = "t1", .name = "n", .role = "viewer"}).ok());
  const TokenRecord later{.id = "t0", .name = "n", .role = "viewer", .created_at = "2026-11-30T14:40:00.000Z"};
  REQUIRE(journal.append(later).ok());
  REQUIRE(journal.note_worker({.id = WorkerId(3), .job = JobId(4), .node = NodeId(2)}).ok());
  REQUIRE(journal.note_worker({.id = WorkerId(4), .job = JobId(5), .node = NodeId(2)}).ok());
  REQUIRE(journal.note_worker({.id = WorkerId(9), .job = JobId(4), .node = NodeId(1)}).ok());
  auto history = SqliteHistory::open(dir / "j.db");
  REQUIRE(history.ok());
  CHECK((*history)->events({.limit = 10}).empty());  // not yet committed
  REQUIRE(journal.commit(clock_at(1)).ok());

  const auto events = (*history)->events({.job = JobId(4), .limit = 10});
  REQUIRE(events.size() == 1);
  CHECK(events[0].data.at("name") == "n");
  CHECK((*history)->events({.after = 1, .limit = 10}).empty());
  CHECK((*history)->oldest_event() == 1);
  CHECK((*history)->decisions(std::nullopt, JobId(4), 5).size() == 1);
  CHECK((*history)->decisions(DecisionId(1), std::nullopt, 5).empty());
  const auto points = (*history)->metrics(JobId(4), 10);
  CHECK(points.size() == 10);
  CHECK(points.back().step == 99);
  CHECK(points.back().compute_ms == std::vector{1.5, 2.5});
  CHECK((*history)->metrics(JobId(4), 1'000).size() == 100);
  CHECK(!points.back().noise_scale);
  CHECK((*history)->metrics(JobId(5), 1).at(0).global_batch == 512);
  CHECK((*history)->metrics(JobId(5), 1).at(0).noise_scale == 1930.5);
  CHECK(std::isnan((*history)->metrics(JobId(6), 1).at(0).loss));
  REQUIRE((*history)->token("t1").has_value());
  CHECK_FALSE((*history)->token("t1")->expires_unix_s.has_value());
  CHECK((*history)->tokens().back().id == "t0");  // made last, whatever its id is
  CHECK((*history)->node_of(WorkerId(3)) == NodeId(2));
  CHECK((*history)->job_of(WorkerId(9)) == JobId(4));
  CHECK((*history)->job_of(WorkerId(4)) == JobId(5));
  CHECK_FALSE((*history)->job_of(WorkerId(5)));
  CHECK((*history)->first_worker(JobId(4)) == WorkerId(3));
  CHECK((*history)->first_worker(JobId(5)) == WorkerId(4));
  CHECK_FALSE((*history)->first_worker(JobId(6)));
  REQUIRE(journal.revoke_token("t1").ok());
  REQUIRE(journal.commit(clock_at(2)).ok());
  CHECK((*history)->token("t1")->revoked);
}

TEST_CASE("of old audits only those are kept that found something") {
  const test::TemporaryFolder dir;
  JournalOptions options;
  options.progress_events_max = 10;
  Journal journal = open(dir / "j.db", options);
  core::ClusterState state;
  for (EventSeq seq = 1; seq <= 40; ++seq) {
    core::Event event;
    event.seq = seq;
    event.type = "data.epoch_audited";
    event.data = {{"epoch", seq}, {"expected", 600}, {"used", seq == 7 ? 599 : 600}, {"checksum_ok", seq != 9}};
    REQUIRE(journal.append(std::vector{event}).ok());
  }
  REQUIRE(journal.commit(clock_at(1)).ok());
  state.next_event = 41;
  REQUIRE(journal.snapshot(state, clock_at(1)).ok());
  auto history = SqliteHistory::open(dir / "j.db");
  REQUIRE(history.ok());
  std::vector<EventSeq> kept;
  for (const auto& event : (*history)->events({.limit = 1'000})) kept.push_back(event.seq);
  REQUIRE(kept.size() == 12);
  CHECK(kept[0] == 7);
  CHECK(kept[1] == 9);
  CHECK(kept[2] == 31);
}

TEST_CASE("measurements and progress events stay bounded") {
  const test::TemporaryFolder dir;
  JournalOptions options;
  options.metric_points_max = 64;
  options.progress_events_max = 10;
  options.retention = Duration::micros(50);
  Journal journal = open(dir / "j.db", options);
  core::ClusterState state;
  for (EventSeq seq = 1; seq <= 100; ++seq) {
    core::Event event;
    event.seq = seq;
    event.at = Instant::from_micros(static_cast<std::int64_t>(seq));
    event.type = seq % 2 == 0 ? "job.progressed" : "job.resized";
    REQUIRE(journal.append(std::vector{event}).ok());
  }
  for (int i = 0; i < 1'000; ++i) REQUIRE(journal.append(JobId(1), MetricPoint{.step = i}).ok());
  REQUIRE(journal.commit(clock_at(1)).ok());
  state.next_event = 101;
  REQUIRE(journal.snapshot(state, clock_at(100)).ok());
  auto history = SqliteHistory::open(dir / "j.db");
  REQUIRE(history.ok());
  CHECK((*history)->oldest_event() == 51);
  CHECK((*history)->events({.limit = 1'000}).size() == 30);
  const auto points = (*history)->metrics(JobId(1), 10'000);
  CHECK(points.size() <= 128);
  CHECK(points.front().step == 0);
  CHECK(points.back().step == 999);
}

namespace {

core::Decision decision_of(std::uint64_t id, const std::string& policy) {
  core::Decision decision;
  decision.id = DecisionId(id);
  decision.at = Instant::from_micros(static_cast<std::int64_t>(id));
  decision.policy = policy;
  return decision;
}

std::string own_policy(Journal& journal) {
  const auto name = journal.own_policy();
  REQUIRE(name.ok());
  return name->value_or("none");
}

}  // namespace

TEST_CASE("the policy that decided last is kept, files that decided in its place left out, at the next start too") {
  const test::TemporaryFolder dir;
  {
    Journal journal = open(dir / "j.db");
    CHECK(own_policy(journal) == "none");
    REQUIRE(journal.append(decision_of(1, "fifo")).ok());
    REQUIRE(journal.append(decision_of(2, "las")).ok());
    REQUIRE(journal.append(decision_of(3, "capped@0123456789ab")).ok());
    CHECK(own_policy(journal) == "las");
    REQUIRE(journal.commit(clock_at(5)).ok());
  }
  Journal journal = open(dir / "j.db");
  CHECK(own_policy(journal) == "las");
}

TEST_CASE("however many decisions a file has made, the policy before it stays known") {
  const test::TemporaryFolder dir;
  const JournalOptions options{.vfs = "", .retention = Duration::micros(10)};
  {
    Journal journal = open(dir / "j.db", options);
    REQUIRE(journal.append(decision_of(1, "las")).ok());
    for (std::uint64_t id = 2; id <= 12; ++id) REQUIRE(journal.append(decision_of(id, "capped@0123456789ab")).ok());
    REQUIRE(journal.commit(clock_at(20)).ok());
    core::ClusterState state;
    state.next_decision = 13;
    REQUIRE(journal.snapshot(state, clock_at(21)).ok());
    CHECK(own_policy(journal) == "las");
  }
  Journal journal = open(dir / "j.db", options);
  CHECK(own_policy(journal) == "las");
  auto history = SqliteHistory::open(dir / "j.db");
  REQUIRE(history.ok());
  CHECK((*history)->decisions(std::nullopt, std::nullopt, 20).size() == 2);  // what the limit leaves
}

TEST_CASE("the write-ahead log is folded into the file when it has grown, not before") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  const std::string log = (dir / "j.db-wal").string();
  std::uintmax_t largest = 0;
  for (int i = 1; i <= 600; ++i) {
    for (int row = 0; row < 40; ++row) REQUIRE(journal.append(fact(i)).ok());
    REQUIRE(journal.commit(clock_at(i)).ok());
    REQUIRE(journal.checkpoint_if_due().ok());
    largest = std::max(largest, std::filesystem::file_size(log));
  }
  CHECK(largest > 4U << 20U);
  CHECK(largest < 16U << 20U);
}

TEST_CASE("a mark with a wrong guard is no mark") {
  const test::TemporaryFolder dir;
  const JournalMark mark(dir / "m");
  CHECK_FALSE(mark.read().has_value());
  mark.write(42);
  CHECK(mark.read() == 42);
  std::filesystem::resize_file(dir / "m", 9);
  CHECK_FALSE(mark.read().has_value());
}

TEST_CASE("a version of a policy that is sent again has the tests of then, and has still to be looked over") {
  const test::TemporaryFolder dir;
  Journal journal = open(dir / "j.db");
  PolicyVersion version{.name = "capped", .version = "ab", .created_at = "2026-11-20T21:53:24Z", .created_by = "t"};
  version.source = "return {}";
  version.tests = "{\"basic.yaml\":[]}";
  REQUIRE(journal.append(version).ok());
  REQUIRE(journal.note_checks("capped", "ab", {}).ok());
  version.created_by = "another";
  REQUIRE(journal.append(version).ok());
  REQUIRE(journal.commit(clock_at(1)).ok());
  const auto reads = JournalReads::open(dir / "j.db").value();
  const auto same = reads->policy_version("capped", "ab").value();
  REQUIRE(same);
  CHECK(same->checks);
  CHECK(same->created_by == "t");
  version.tests = "{}";
  REQUIRE(journal.append(version).ok());
  REQUIRE(journal.commit(clock_at(2)).ok());
  const auto sent_again = reads->policy_version("capped", "ab").value();
  REQUIRE(sent_again);
  CHECK(sent_again->tests == "{}");
  CHECK_FALSE(sent_again->checks);
}

}  // namespace tidepool::live
