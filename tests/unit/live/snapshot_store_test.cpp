#include "schedulerd/live/store/snapshot_store.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/codec/codec.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

constexpr std::uint64_t kJobs = 1'500;

// A journal in a folder, and a state that goes with it.
class Book {
 public:
  explicit Book(std::filesystem::path file) : file_(std::move(file)) { open(); }

  void open() {
    journal_.reset();
    auto journal = Journal::open(file_, {.vfs = "", .snapshot_every = 10, .retention = Duration()});
    REQUIRE(journal.ok());
    journal_.emplace(*std::move(journal));
  }
  // As after kill -9, on a copy of the files.
  void open_copy(const std::filesystem::path& file) {
    for (const char* suffix : {"", "-wal", ".mark"}) {
      std::filesystem::copy_file(file_.string() + suffix, file.string() + suffix);
    }
    file_ = file;
    open();
  }

  void submit(std::uint64_t number) {
    auto job = std::make_shared<core::Job>();
    job->id = JobId(number);
    job->spec.name = "job-" + std::to_string(number);
    state.jobs.emplace(job->id, job);
    state.next_job = number + 1;
  }
  // One more row, and a piece of what is to be written beside it.
  void turn() {
    state.now = state.now + Duration::seconds(1);
    REQUIRE(journal_->append(core::TimedFact{state.now, core::ClockAdvanced{}}).ok());
    REQUIRE(journal_->add_upkeep(state, clock()).ok());
    REQUIRE(journal_->commit(clock()).ok());
  }
  void snapshot() {
    turn();
    REQUIRE(journal_->snapshot(state, clock()).ok());
  }
  [[nodiscard]] StoredClock clock() const { return {{"boot", 0, 0}, state.now, 0}; }

  [[nodiscard]] std::vector<SnapshotHead> heads() { return *journal_->snapshots(); }
  // Of the snapshot, none if it is damaged.
  [[nodiscard]] std::optional<std::uint64_t> digest(std::uint64_t seq) {
    const auto read = journal_->state_of(seq);
    REQUIRE(read.ok());
    return *read ? std::optional(core::digest_of(**read)) : std::nullopt;
  }
  [[nodiscard]] Journal& journal() { return *journal_; }

  // A number out of the file.
  [[nodiscard]] std::int64_t ask(const char* sql) const {
    std::int64_t answer = -1;
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(file_.c_str(), &database) == SQLITE_OK);
    const auto take = [](void* into, int, char** values, char**) {
      if (values[0] != nullptr) *static_cast<std::int64_t*>(into) = std::atoll(values[0]);
      return 0;
    };
    CHECK(sqlite3_exec(database, sql, take, &answer, nullptr) == SQLITE_OK);
    sqlite3_close(database);
    return answer;
  }

  core::ClusterState state;

 private:
  std::filesystem::path file_;
  std::optional<Journal> journal_;
};

}  // namespace

TEST_CASE("a snapshot is written in pieces beside the rows, counts once it is whole, and is the state where it began") {
  const test::TemporaryFolder dir;
  Book book(dir / "j.db");
  for (std::uint64_t number = 1; number <= kJobs; ++number) book.submit(number);
  std::optional<std::uint64_t> begun;
  int turns = 0;
  while (book.heads().empty()) {
    book.turn();
    if (!begun && book.journal().last_seq() == 10) begun = core::digest_of(book.state);
    REQUIRE(++turns < 200);
    if (begun) book.state.mutable_job(JobId(1 + book.journal().last_seq() % kJobs)).progress.step += 1;  // life goes on
  }
  CHECK(turns > 20);  // no turn waited for all of it
  CHECK(book.heads().front().seq == 10);
  CHECK(book.digest(10) == begun);
}

TEST_CASE("snapshots that look at much lie so far apart that they stay a part of what is written") {
  const test::TemporaryFolder dir;
  Book book(dir / "j.db");
  for (std::uint64_t number = 1; number <= 100; ++number) book.submit(number);
  const auto live = [&](std::uint64_t from, std::uint64_t to, std::uint64_t rows) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t number = from; number <= to; ++number)
        book.state.mutable_job(JobId(number)).progress.step += 1;
      book.turn();
    }
  };
  const auto newest = [&] { return book.heads().empty() ? 0 : book.heads().front().seq; };
  live(1, 100, 50);
  CHECK(newest() == 10);
  live(1, 100, 400);
  CHECK(newest() == 410);  // the one of row 10 had looked at 100 jobs
  live(1, 1, 500);
  CHECK(newest() == 810);
  live(1, 1, 300);
  CHECK(newest() >= 1'230);  // that of row 1210 has looked at one job: ten rows are enough again
}

TEST_CASE("a crash in the middle of a snapshot leaves the one before, and the next one is whole") {
  const test::TemporaryFolder dir;
  Book book(dir / "j.db");
  for (std::uint64_t number = 1; number <= kJobs; ++number) book.submit(number);
  book.snapshot();
  const std::uint64_t whole = book.heads().front().seq;
  const auto before = book.digest(whole);
  book.open();  // from now on it is not known that the snapshot looked at much
  REQUIRE(book.journal().go_on_from(whole, book.state).ok());
  for (std::uint64_t number = 1; number <= kJobs; ++number) book.state.mutable_job(JobId(number)).progress.step = 9;
  for (int i = 0; i < 15; ++i) book.turn();
  REQUIRE(book.ask("SELECT count(*) FROM snapshot_rows WHERE seq>1") > 0);
  book.open_copy(dir / "copy.db");
  REQUIRE(book.heads().size() == 1);
  CHECK(book.digest(whole) == before);
  auto recovered = book.journal().state_of(whole);
  REQUIRE(book.journal().go_on_from(whole, **recovered).ok());
  CHECK(book.ask("SELECT count(*) FROM snapshot_rows WHERE seq>1") == 0);
  book.snapshot();
  CHECK(book.digest(book.heads().front().seq) == core::digest_of(book.state));
  CHECK(book.digest(whole) == before);
}

TEST_CASE("a snapshot costs what has changed, and what no snapshot sees any more is gone from the file") {
  const test::TemporaryFolder dir;
  Book book(dir / "j.db");
  for (std::uint64_t number = 1; number <= kJobs; ++number) book.submit(number);
  book.snapshot();
  book.state.mutable_job(JobId(7)).progress.step = 1;
  book.submit(kJobs + 1);
  book.state.jobs.erase(JobId(8));
  book.snapshot();
  const std::uint64_t second = book.heads().front().seq;
  CHECK(book.ask(("SELECT count(*) FROM snapshot_rows WHERE seq=" + std::to_string(second)).c_str()) == 3);
  for (int i = 0; i < 3; ++i) {
    book.state.mutable_job(JobId(7)).progress.step += 1;
    book.snapshot();
  }
  CHECK(book.heads().size() == 2);
  CHECK(book.ask("SELECT count(*) FROM snapshot_rows WHERE id=8") == 0);
  CHECK(book.ask("SELECT count(*) FROM snapshot_rows") <= static_cast<std::int64_t>(kJobs) + 2);  // job 7 in three
  for (const auto& head : book.heads()) CHECK(book.digest(head.seq).has_value());
}

TEST_CASE("a snapshot with a damaged, a missing or a foreign row is none, and the one before it is there") {
  for (const char* harm : {"UPDATE snapshot_rows SET body=replace(body,'job-7\"','job-x\"') WHERE seq>1",
                           "DELETE FROM snapshot_rows WHERE seq>1 AND id=7",
                           "INSERT INTO snapshot_rows SELECT kind,9000,seq,digest,body FROM snapshot_rows WHERE seq>1",
                           "UPDATE snapshots SET head=replace(head,'next_job','next_jot') WHERE seq>1"}) {
    INFO(harm);
    const test::TemporaryFolder dir;
    Book book(dir / "j.db");
    for (std::uint64_t number = 1; number <= 20; ++number) book.submit(number);
    book.snapshot();
    const auto first = core::digest_of(book.state);
    book.state.mutable_job(JobId(7)).progress.step = 5;
    book.snapshot();
    const auto heads = book.heads();
    REQUIRE(heads.size() == 2);
    (void)book.ask(harm);
    CHECK_FALSE(book.digest(heads[0].seq));
    CHECK(book.digest(heads[1].seq) == first);
  }
}

TEST_CASE("of older snapshots those that lie apart are kept for as long as the past is, and one from before it") {
  const test::TemporaryFolder dir;
  auto opened = Journal::open(
      dir / "j.db", {.vfs = "", .retention = Duration::seconds(1'000), .snapshots_apart = Duration::seconds(100)});
  REQUIRE(opened.ok());
  Journal journal = *std::move(opened);
  core::ClusterState state;
  for (int i = 1; i <= 300; ++i) {
    state.now = Instant() + Duration::seconds(10 * i);
    const StoredClock clock{{"boot", 0, 0}, state.now, 0};
    REQUIRE(journal.append(core::TimedFact{state.now, core::ClockAdvanced{}}).ok());
    REQUIRE(journal.snapshot(state, clock).ok());
  }
  const auto heads = *journal.snapshots();
  CHECK(heads.size() >= 11);
  CHECK(heads.size() <= 14);
  CHECK(heads.back().at <= Instant() + Duration::seconds(2'000));
  CHECK(heads.back().at >= Instant() + Duration::seconds(1'890));
  for (std::size_t i = 2; i + 1 < heads.size(); ++i) CHECK(heads[i].at - heads[i + 1].at >= Duration::seconds(100));
}

}  // namespace tidepool::live
