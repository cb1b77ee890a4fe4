// What is said of a disk that takes nothing more.
#include "schedulerd/live/store/sqlite.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

using Catch::Contains;

// No byte can be written to any file, as on a full disk.
class NoRoom {
 public:
  NoRoom() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  NoRoom(const NoRoom&) = delete;
  NoRoom& operator=(const NoRoom&) = delete;
  ~NoRoom() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_handler_);
  }

 private:
  rlimit before_{};
  void (*before_handler_)(int) = SIG_DFL;
};

// What a start says, if it fails: it opens the file and looks into it.
std::string said_at_start(const std::string& file) {
  auto database = Database::open(file, {});
  if (!database) return database.error().message;
  const Status begun = database->execute("PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS facts(body TEXT)");
  return begun.ok() ? "" : begun.error().message;
}

}  // namespace

TEST_CASE("a database that finds no room on its disk says so, whichever of its files it was for") {
  const test::TemporaryFolder folder;
  const std::string file = (folder / "journal.db").string();
  std::string at_first;
  std::string later;
  {
    const NoRoom full;
    at_first = said_at_start(file);
  }
  REQUIRE(said_at_start(file).empty());
  {
    const NoRoom full;
    later = said_at_start(file);
  }
  for (const std::string& said : {at_first, later}) {
    CHECK_THAT(said, Contains("the disk of " + folder.path().string() + " has no room for it, File too large"));
    CHECK_THAT(said, Contains("free some space there and start again") && !Contains("disk I/O error"));
  }
}

}  // namespace tidepool::live
