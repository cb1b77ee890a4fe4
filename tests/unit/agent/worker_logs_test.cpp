#include "workers/agent/worker_logs.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <set>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

const WorkerId kLogged(5);

struct Logged {
  explicit Logged(LogLimits limits = {}) : logs(std::move(WorkerLogs::open(folder / "logs", limits).value())) {}
  void write(std::string_view text, WorkerId worker = kLogged) const {
    const auto file = logs.writer(worker);
    REQUIRE(file.ok());
    REQUIRE(write_all(file->get(), text).ok());
  }
  [[nodiscard]] api::LogChunk read(std::int64_t offset, std::int64_t limit = 65'536, bool lives = true) const {
    return logs.read({.request = 1, .worker = kLogged, .offset = offset, .limit = limit}, lives);
  }

  test::TemporaryFolder folder;
  WorkerLogs logs;
};

}  // namespace

TEST_CASE("a log is read page by page and ends only when its worker has ended") {
  const Logged log;
  log.write("abcdef");
  auto page = log.read(0, 4);
  CHECK(page.data == "abcd");
  CHECK(page.next_offset == 4);
  CHECK_FALSE(page.eof);
  page = log.read(page.next_offset);
  CHECK(page.data == "ef");
  CHECK_FALSE(page.eof);
  page = log.read(page.next_offset);
  CHECK(page.data.empty());
  CHECK(page.next_offset == 6);
  CHECK_FALSE(page.eof);
  log.write("g");
  page = log.read(page.next_offset, 65'536, false);
  CHECK(page.data == "g");
  CHECK(page.eof);
}

TEST_CASE("the last line of a progress bar is its last state") {
  const Logged log;
  log.write("epoch 1\n\r 1% done\r 2% done\r");
  CHECK(log.logs.last_line(kLogged) == "2% done");
  log.write("\r\n");
  CHECK(log.logs.last_line(kLogged) == "2% done");
}

TEST_CASE("what the agent has to say of a worker is a line of its own in the log, and makes none where there is none") {
  const Logged log;
  log.logs.note(kLogged, "first");
  CHECK(log.read(0).data.empty());
  log.write("step 1");
  log.logs.note(kLogged, "no length");
  log.logs.note(kLogged, "no answer");
  log.write("step 2\n");
  CHECK(log.read(0).data == "step 1\ntidepool: no length\ntidepool: no answer\nstep 2\n");
}

TEST_CASE("what the agent has noted of a worker's files is not its last output") {
  const Logged log;
  log.write("step 1\n");
  log.logs.note(kLogged, "what " + kLogged.text() + " wrote in its answer file is no answer");
  CHECK(log.logs.last_line(kLogged) == "step 1");
}

TEST_CASE("a negative offset counts from the end, and no offset leads outside") {
  const Logged log;
  log.write("abcdef");
  CHECK(log.read(-2).data == "ef");
  CHECK(log.read(-2).offset == 4);
  CHECK(log.read(-100).data == "abcdef");
  CHECK(log.read(INT64_MIN).data == "abcdef");
  CHECK(log.read(INT64_MAX).data.empty());
  CHECK(log.read(INT64_MAX).next_offset == 6);
}

TEST_CASE("the log of a worker that never was is empty and at its end") {
  const Logged log;
  CHECK(log.read(0, 10, false).eof);
  CHECK(log.read(0, 10, false).data.empty());
}

TEST_CASE("a page is never cut inside a character, unless nothing else could come of it") {
  const Logged log;
  log.write("a\xE2\x82\xAC");  // a and a euro sign
  CHECK(log.read(0, 3).data == "a");
  CHECK(log.read(1, 3).data == "\xE2\x82\xAC");
  CHECK(log.read(1, 2).data.size() == 2);  // a limit below one character must not stop a reader for ever
  log.write("\xE2\x82");                   // half of one, while its worker still writes
  CHECK(log.read(4).data.empty());
  CHECK(log.read(4, 65'536, false).data.size() == 2);
  CHECK(log.read(4, 65'536, false).eof);
}

TEST_CASE("the last line that says anything is found, in one bounded line without control characters") {
  const Logged log;
  CHECK(log.logs.last_line(kLogged).empty());
  log.write("first\n  ValueError: \x1b[31mno file\r\n \n\n");
  CHECK(log.logs.last_line(kLogged) == "ValueError:  [31mno file");
  log.write(std::string(20'000, 'x'));
  CHECK(log.logs.last_line(kLogged) == std::string(297, 'x') + "…");
}

TEST_CASE("a log above its cap loses its front and keeps its offsets") {
  const Logged log({.bytes_max = 64 * 1024});
  for (int i = 0; i < 100; ++i) log.write(std::string(4'095, static_cast<char>('a' + i % 26)) + "\n");
  REQUIRE(log.logs.cut(kLogged).ok());
  const auto page = log.read(0);
  CHECK(page.offset == 409'600 - 64 * 1024);
  CHECK(page.data.find('\0') == std::string::npos);
  CHECK(log.read(409'600 - 4).data == std::string(3, static_cast<char>('a' + 99 % 26)) + "\n");
  log.write("more\n");
  CHECK(log.read(409'600).data == "more\n");
}

TEST_CASE("a log that is cut within a block and a line begins with its first whole line") {
  const Logged log({.bytes_max = 64 * 1024});
  std::string text;
  for (int i = 0; i < 3'000; ++i) text += std::string(99, static_cast<char>('a' + i % 26)) + "\n";
  log.write(text);
  REQUIRE(log.logs.cut(kLogged).ok());
  const auto page = log.read(0);
  CHECK(page.offset == 234'500);  // the first line behind 300,000 - 64 KiB
  CHECK(page.data == text.substr(234'500));
  CHECK(page.next_offset == 300'000);
}

TEST_CASE("of ended workers only the newest logs are kept, of living ones all") {
  const Logged log({.files_max = 2});
  for (std::uint64_t number = 1; number <= 5; ++number) {
    log.write("x", WorkerId(number));
    const auto path = log.folder / "logs" / (WorkerId(number).text() + ".log");
    std::filesystem::last_write_time(path, std::filesystem::file_time_type() + std::chrono::hours(number));
  }
  log.logs.prune([](WorkerId worker) { return worker == WorkerId(1); });
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(log.folder / "logs"))
    left.insert(entry.path().filename());
  CHECK(left == std::set<std::string>{"w-1.log", "w-4.log", "w-5.log"});
}

}  // namespace tidepool::agent
