#include "workers/agent/worker_ledger.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

api::WorkerExitedReport report_of(std::uint64_t number, WorkerId worker) {
  return {.report = number, .worker = worker, .exit_code = 3, .signal = 0, .detail = "\"last\"\nline"};
}

WorkerLedger open_in(const test::TemporaryFolder& folder) {
  auto ledger = WorkerLedger::open(folder.path());
  REQUIRE(ledger.ok());
  return std::move(*ledger);
}

}  // namespace

TEST_CASE("the ledger gives back what was recorded, over any number of restarts") {
  const test::TemporaryFolder folder;
  {
    WorkerLedger ledger = open_in(folder);
    CHECK(ledger.history().started.empty());
    REQUIRE(ledger.record_started(WorkerId(1)).ok());
    REQUIRE(ledger.record_started(WorkerId(2)).ok());
    REQUIRE(ledger.record_exit(report_of(8, WorkerId(2))).ok());
    REQUIRE(ledger.record_started(WorkerId(3)).ok());
    REQUIRE(ledger.record_exit(report_of(9, WorkerId(3))).ok());
    REQUIRE(ledger.record_ack(WorkerId(3)).ok());
  }
  for (int restart = 0; restart < 3; ++restart) {
    const WorkerLedger ledger = open_in(folder);
    const RecordedWorkers& history = ledger.history();
    CHECK(history.started == std::set<WorkerId>{WorkerId(1), WorkerId(2), WorkerId(3)});
    CHECK(history.open() == std::set<WorkerId>{WorkerId(1)});
    CHECK(history.unacknowledged == std::set<WorkerId>{WorkerId(2)});
    CHECK(history.exits.at(WorkerId(2)).detail == "\"last\"\nline");
    CHECK(history.exits.at(WorkerId(3)).exit_code == 3);
    CHECK(history.next_report == 10);
  }
}

TEST_CASE("of an end without code the ledger keeps whether nothing was started, and of older records that none told") {
  const test::TemporaryFolder folder;
  {
    WorkerLedger ledger = open_in(folder);
    REQUIRE(ledger.record_exit({.report = 1, .worker = WorkerId(1), .nothing_started = true}).ok());
    REQUIRE(ledger.record_exit({.report = 2, .worker = WorkerId(2), .nothing_started = false}).ok());
    REQUIRE(ledger.record_exit({.report = 3, .worker = WorkerId(3)}).ok());
  }
  for (int restart = 0; restart < 2; ++restart) {
    const WorkerLedger ledger = open_in(folder);
    const auto& exits = ledger.history().exits;
    CHECK(exits.at(WorkerId(1)).nothing_started == true);
    CHECK(exits.at(WorkerId(2)).nothing_started == false);
    CHECK_FALSE(exits.at(WorkerId(3)).nothing_started.has_value());
  }
}

TEST_CASE("when a worker was ordered to start is kept, and one that is forgotten has never been here") {
  const test::TemporaryFolder folder;
  {
    WorkerLedger ledger = open_in(folder);
    REQUIRE(ledger.record_started(WorkerId(1), 77).ok());
    REQUIRE(ledger.record_exit(report_of(4, WorkerId(1))).ok());
    REQUIRE(ledger.record_started(WorkerId(2), 78).ok());
    REQUIRE(ledger.record_forgotten(WorkerId(2)).ok());
  }
  for (int restart = 0; restart < 2; ++restart) {
    const WorkerLedger ledger = open_in(folder);
    CHECK(ledger.history().starts == std::map<WorkerId, std::int64_t>{{WorkerId(1), 77}});
    CHECK(ledger.history().started == std::set<WorkerId>{WorkerId(1)});
    CHECK(ledger.history().exits.contains(WorkerId(1)));
  }
}

TEST_CASE("a copy of a state directory has no records and names the processes of the original") {
  const test::TemporaryFolder folder;
  const auto state = folder.path() / "state";
  std::filesystem::create_directory(state);
  std::filesystem::permissions(state, std::filesystem::perms::owner_all);
  const auto open = [](const std::filesystem::path& where) {
    auto ledger = WorkerLedger::open(where);
    REQUIRE(ledger.ok());
    return std::move(*ledger);
  };
  std::string instance;
  {
    WorkerLedger ledger = open(state);
    instance = ledger.instance();
    REQUIRE(ledger.record_started(WorkerId(4), 5).ok());
    REQUIRE(ledger.record_process({WorkerId(4), JobId(2), 77, 123'456, "boot", {}}).ok());
  }
  std::filesystem::copy(state, folder.path() / "copy", std::filesystem::copy_options::recursive);
  for (int restart = 0; restart < 2; ++restart) {
    const WorkerLedger copy = open(folder.path() / "copy");
    CHECK(copy.history().started.empty());
    CHECK_FALSE(copy.process_of(WorkerId(4)).has_value());
    CHECK(copy.foreign() == (restart == 0 ? std::vector<pid_t>{77} : std::vector<pid_t>{}));
    CHECK(copy.instance() != instance);
  }
  CHECK(open(state).history().started == std::set<WorkerId>{WorkerId(4)});
  std::filesystem::rename(state, folder.path() / "moved");
  const WorkerLedger moved = open(folder.path() / "moved");
  CHECK(moved.history().started == std::set<WorkerId>{WorkerId(4)});
  CHECK(moved.instance() == instance);
}

TEST_CASE("a line that the machine did not finish is dropped, a damaged one is not guessed") {
  const test::TemporaryFolder folder;
  {
    REQUIRE(open_in(folder).record_started(WorkerId(1)).ok());
  }
  std::ofstream(folder / "ledger.jsonl", std::ios::app) << "{\"started\":\"w-2";
  CHECK(open_in(folder).history().started == std::set<WorkerId>{WorkerId(1)});
  std::ofstream(folder / "ledger.jsonl", std::ios::app) << "{\"began\":\"w-2\"}\n";
  const auto damaged = WorkerLedger::open(folder.path());
  REQUIRE_FALSE(damaged.ok());
  CHECK_THAT(damaged.error().message, Catch::Contains("line 2 is damaged"));
}

TEST_CASE("a process is found again by all that tells it from another") {
  const test::TemporaryFolder folder;
  WorkerLedger ledger = open_in(folder);
  CHECK_FALSE(ledger.process_of(WorkerId(4)).has_value());
  REQUIRE(ledger.record_process({WorkerId(4), JobId(2), 77, 123'456, "boot", {0, 5}}).ok());
  const auto record = ledger.process_of(WorkerId(4));
  REQUIRE(record.has_value());
  CHECK(record->pid == 77);
  CHECK(record->start_time == 123'456);
  CHECK(record->boot_id == "boot");
  CHECK(record->job == JobId(2));
  CHECK(record->cpus == std::vector<int>{0, 5});
  std::ofstream(folder / "workers/w-4.json") << "{\"pid\":1}";
  CHECK_FALSE(ledger.process_of(WorkerId(4)).has_value());
  ledger.forget_process(WorkerId(4));
  CHECK_FALSE(std::filesystem::exists(folder / "workers/w-4.json"));
}

TEST_CASE("by when a process has to end is kept for that process alone, and goes with it") {
  const test::TemporaryFolder folder;
  const ProcessRecord process{WorkerId(4), JobId(2), 77, 123'456, "boot", {}};
  const Instant kill_at = Instant::from_micros(9'000'000);
  {
    WorkerLedger ledger = open_in(folder);
    CHECK_FALSE(ledger.record_ending(WorkerId(4), kill_at).ok());
    REQUIRE(ledger.record_process(process).ok());
    CHECK_FALSE(ledger.ending_of(process).has_value());
    REQUIRE(ledger.record_ending(WorkerId(4), kill_at).ok());
  }
  WorkerLedger ledger = open_in(folder);
  CHECK(ledger.ending_of(process) == kill_at);
  ProcessRecord next = process;
  next.start_time = 123'457;
  CHECK_FALSE(ledger.ending_of(next).has_value());
  ledger.forget_process(WorkerId(4));
  CHECK_FALSE(ledger.ending_of(process).has_value());
}

TEST_CASE("a state directory that others may write to is refused") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "workers");
  std::filesystem::permissions(folder / "workers", std::filesystem::perms::all);
  CHECK_THAT(WorkerLedger::open(folder.path()).error().message, Catch::Contains("chmod 700"));
}

}  // namespace tidepool::agent
