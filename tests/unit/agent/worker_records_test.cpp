#include "workers/agent/loop/worker_records.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

// The ledger is as long as files may be, so that nothing more can be written into it.
class FullLedger {
 public:
  explicit FullLedger(fs::path file) : file_(std::move(file)), size_(fs::file_size(file_)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    fs::resize_file(file_, kMost);
    const rlimit limit{.rlim_cur = kMost, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  FullLedger(const FullLedger&) = delete;
  FullLedger& operator=(const FullLedger&) = delete;
  ~FullLedger() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_handler_);
    fs::resize_file(file_, size_);
  }

 private:
  static constexpr std::size_t kMost = 64 << 20;  // more than anything else here writes

  fs::path file_;
  std::uintmax_t size_;
  rlimit before_{};
  void (*before_handler_)(int) = SIG_DFL;
};

struct RecordsScene {
  test::TemporaryFolder folder;
  WorkerLedger ledger = *WorkerLedger::open(folder.path());
  WorkerLogs logs = *WorkerLogs::open(folder / "logs");
  WorkerRecords records{folder / "work", ledger, logs};

  // What the next agent reads; from a copy of the file, because opening a ledger writes it anew.
  [[nodiscard]] RecordedWorkers found_later() const {
    const test::TemporaryFolder next;
    fs::copy_file(folder / "ledger.jsonl", next / "ledger.jsonl");
    return WorkerLedger::open(next.path())->history();
  }
  void leave_files_of(WorkerId worker) {
    REQUIRE(make_private_folder(folder / "work").ok());
    REQUIRE(make_private_folder(records.folder_of(worker)).ok());
    REQUIRE(logs.writer(worker).ok());
  }
};

}  // namespace

TEST_CASE("a start that the ledger could not take is told once, and is made up for when it can be written") {
  RecordsScene scene;
  const auto try_to_record = [&](WorkerId worker) {
    const FullLedger full(scene.folder / "ledger.jsonl");
    scene.records.take(RecordStarted{.worker = worker, .started_at = 70});
    return scene.records.make_up_for(worker, 70);
  };
  CHECK_FALSE(try_to_record(WorkerId(1)).ok());
  CHECK(scene.records.take_why_unrecorded(WorkerId(1)).has_value());
  CHECK_FALSE(scene.records.take_why_unrecorded(WorkerId(1)).has_value());

  CHECK_FALSE(try_to_record(WorkerId(2)).ok());
  CHECK(scene.records.make_up_for(WorkerId(2), 70).ok());
  CHECK_FALSE(scene.records.take_why_unrecorded(WorkerId(2)).has_value());

  scene.records.take(RecordStarted{.worker = WorkerId(3), .started_at = 71});
  CHECK_FALSE(scene.records.take_why_unrecorded(WorkerId(3)).has_value());
  CHECK(scene.records.make_up_for(WorkerId(3), 72).ok());
  CHECK(scene.found_later().starts == std::map<WorkerId, std::int64_t>{{WorkerId(2), 70}, {WorkerId(3), 71}});
}

TEST_CASE("a confirmed end takes the worker's folder with it and leaves its log") {
  RecordsScene scene;
  scene.records.take(RecordStarted{.worker = WorkerId(1)});
  scene.leave_files_of(WorkerId(1));
  scene.records.take(RecordExit{.report = {.report = 4, .worker = WorkerId(1), .exit_code = 0, .detail = "done"}});
  CHECK(fs::exists(scene.records.folder_of(WorkerId(1))));
  CHECK(scene.found_later().unacknowledged.contains(WorkerId(1)));

  scene.records.take(RecordAck{WorkerId(1)}, [](WorkerId) { return false; });
  CHECK_FALSE(fs::exists(scene.records.folder_of(WorkerId(1))));
  CHECK_FALSE(fs::is_empty(scene.folder / "logs"));
  CHECK(scene.found_later().unacknowledged.empty());
}

TEST_CASE("a ledger that has grown long is made smaller while the agent runs, and keeps what follows") {
  RecordsScene scene;
  const auto bytes = [&] { return fs::file_size(scene.folder / "ledger.jsonl"); };
  const auto live_once = [&](WorkerId worker) {
    scene.records.take(RecordStarted{.worker = worker, .started_at = 70});
    scene.records.take(RecordExit{
        .report = {.report = worker.number(), .worker = worker, .detail = std::string(std::size_t{300} << 10, 'x')}});
    scene.records.take(RecordAck{worker}, [](WorkerId) { return false; });
  };
  scene.records.take(RecordStarted{.worker = WorkerId(9), .started_at = 71});
  for (const WorkerId worker : {WorkerId(1), WorkerId(2), WorkerId(3)}) live_once(worker);
  CHECK(bytes() > std::size_t{900} << 10);  // not worth it yet
  live_once(WorkerId(4));
  CHECK(bytes() < 2'000);
  scene.records.take(RecordExit{.report = {.report = 9, .worker = WorkerId(9), .exit_code = 3}});
  const RecordedWorkers later = scene.found_later();
  CHECK(later.started == std::set<WorkerId>{WorkerId(1), WorkerId(2), WorkerId(3), WorkerId(4), WorkerId(9)});
  CHECK(later.starts.at(WorkerId(9)) == 71);
  CHECK(later.unacknowledged == std::set<WorkerId>{WorkerId(9)});
  CHECK(later.exits.at(WorkerId(9)).exit_code == 3);
}

TEST_CASE("nothing stays of a worker that the daemon does not know, nor of another cluster's") {
  RecordsScene scene;
  for (const WorkerId worker : {WorkerId(1), WorkerId(2)}) {
    scene.records.take(RecordStarted{.worker = worker});
    scene.leave_files_of(worker);
  }
  scene.records.take(ForgetWorker{WorkerId(1)});
  CHECK_FALSE(fs::exists(scene.records.folder_of(WorkerId(1))));
  CHECK(scene.found_later().started == std::set<WorkerId>{WorkerId(2)});

  scene.records.take(ForgetRecords{"the one before"});
  CHECK(fs::is_empty(scene.folder / "work"));
  CHECK(fs::is_empty(scene.folder / "logs"));
  CHECK(scene.found_later().started.empty());
}

}  // namespace tidepool::agent
