// What a node sees of a notice that its machine is to be reclaimed: texts, files, commands, and the watch over them.
#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/agent/notice/notice_source.hpp"
#include "workers/agent/notice/notice_text.hpp"
#include "workers/agent/notice/notice_watch.hpp"
#include "workers/agent/system/monotonic.hpp"

namespace tidepool::agent {
namespace {

using Seen = NoticeLook::Seen;
// 2026-11-20T22:00:00Z
const Instant kSince = Instant::from_micros(1'795'212'000'000'000);
const Duration kLead = Duration::seconds(30);

const GivesUp kGoesOn = [] { return false; };

// What a watch has told last.
class Told {
 public:
  NoticeWatch::Tell tell() {
    return [this](std::optional<Instant> at) {
      const std::lock_guard lock(mutex_);
      at_ = at;
      ++times_;
      told_.notify_all();
    };
  }
  // Waits until that holds of what is told.
  template <class Holds>
  bool wait(const Holds& holds) {
    std::unique_lock lock(mutex_);
    return told_.wait_for(lock, std::chrono::seconds(30), [&] { return times_ > 0 && holds(at_); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::optional<Instant> at_;
  int times_ = 0;
};

}  // namespace

TEST_CASE("a notice names the time that is left, the time of the end, or neither") {
  const auto in = [](const char* text) { return (read_notice(text, kSince, kLead).at - kSince).to_seconds(); };
  CHECK(in("") == 30);
  CHECK(in("TRUE\n") == 30);
  CHECK(in("90\n") == 90);
  CHECK(in("0") == 0);
  CHECK(in("2m") == 120);
  CHECK(in("2026-11-20T22:02:00Z") == 120);
  CHECK(in("2026-11-20T23:02:00.5+01:00") == 120);
  CHECK(in("2026-11-20T17:02:00-0500") == 120);
  CHECK(in("1795212060") == 60);
  CHECK(in(R"({"action":"terminate","time":"2026-11-20T22:02:00Z"})") == 120);
  CHECK(in("2026-11-20T21:59:00Z") == -60);  // it is over
}

TEST_CASE("a notice whose text is not understood is a notice all the same, with the lead") {
  for (const char* text :
       {"soon", "-5", "12 apples", "2026-13-20T22:02:00Z", "2026-11-20T25:02:00Z", "2026-11-20T22:02:00", "2026-11-20",
        "{", R"({"action":"stop"})", R"({"time":7})", "999999999999999999999"}) {
    INFO(text);
    const NoticeEnd end = read_notice(text, kSince, kLead);
    CHECK_FALSE(end.understood);
    CHECK(end.at == kSince + kLead);
  }
}

TEST_CASE("a file that appears is a notice, and what it says counts from when it was written") {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "notice").string();
  CHECK(look_at_file(path).seen == Seen::kNone);
  std::ofstream(path) << "90\n";
  const timespec times[2] = {{1'795'212'000, 0}, {1'795'212'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  const NoticeLook look = look_at_file(path);
  CHECK(look.seen == Seen::kNotice);
  CHECK(look.text == "90\n");
  CHECK(look.since == kSince);
}

TEST_CASE("a command says by its exit code whether there is a notice; what fails says neither") {
  const auto look = [](const char* command) {
    return look_at_command(command, std::chrono::seconds(30) * test::patience(), kGoesOn);
  };
  CHECK(look("echo checking; echo 90").text == "90");
  CHECK(look("echo checking; echo 90").seen == Seen::kNotice);
  CHECK(look("exit 0").text.empty());
  CHECK(look("exit 1").seen == Seen::kNone);
  const NoticeLook failed = look("echo no network >&2; exit 7");
  CHECK(failed.seen == Seen::kUnknown);
  CHECK(failed.text == "the notice command ended with exit code 7: no network");
  CHECK(look("kill -9 $$").seen == Seen::kUnknown);
}

// Killed; whose child it is now reaps it.
bool has_ended(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string id;
  std::string name;
  std::string state = "Z";
  status >> id >> name >> state;
  return state == "Z" || state == "X";
}

TEST_CASE("a command that hangs is killed with all that it started, and one that is not wanted any more at once") {
  const test::TemporaryFolder folder;
  const std::string command = "sleep 1000 & echo $! > " + (folder / "pid").string() + "; wait";
  const NoticeLook late = look_at_command(command, std::chrono::seconds(1) * test::patience(), kGoesOn);
  CHECK(late.seen == Seen::kUnknown);
  CHECK_THAT(late.text, Catch::Contains("was killed"));
  pid_t pid = 0;
  std::ifstream(folder / "pid") >> pid;
  REQUIRE(pid > 0);
  CHECK(test::eventually([&] { return has_ended(pid); }, 10));
  CHECK(look_at_command("sleep 1000", std::chrono::hours(1), [] { return true; }).seen == Seen::kUnknown);
}

TEST_CASE("a command that has closed its output and goes on has given no answer either") {
  const auto limit = std::chrono::seconds(1) * test::patience();
  const std::string command = "exec >&- 2>&-; sleep " + std::to_string(limit.count() * 20);
  const NoticeLook late = look_at_command(command, limit, kGoesOn);
  CHECK(late.seen == Seen::kUnknown);
  CHECK_THAT(late.text, Catch::Contains("was killed"));
  int looks = 0;
  CHECK(look_at_command(command, limit * 10, [&] { return ++looks > 3; }).text == "not waited for");
}

TEST_CASE("a watch tells of a notice that comes and goes, and a source that fails changes nothing") {
  const test::TemporaryFolder folder;
  Told told;
  const std::string path = (folder / "notice").string();
  // Fails while "broken" is there.
  const std::string command =
      "test -e " + (folder / "broken").string() + " && exit 3; cat " + path + " 2>/dev/null || exit 1";
  NoticeOptions options{.source = NoticeOptions::Source::kCommand, .where = command};
  options.period = Duration::millis(10);
  const NoticeWatch watch(options, told.tell());
  CHECK(told.wait([](const auto& at) { return !at; }));
  std::ofstream(folder / "new") << "1000\n";
  std::filesystem::rename(folder / "new", path);
  CHECK(told.wait([](const auto& at) { return at && *at > monotonic_now() + Duration::seconds(500); }));
  std::ofstream(folder / "broken").flush();
  std::filesystem::remove(path);
  std::filesystem::remove(folder / "broken");
  CHECK(told.wait([](const auto& at) { return !at; }));
}

}  // namespace tidepool::agent
