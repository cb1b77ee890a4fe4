#include "schedulerd/live/setup/state_dir.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/log/logging.hpp"
#include "schedulerd/live/setup/secrets.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {

TEST_CASE("a state directory is made private, with its parents") {
  const test::TemporaryFolder dir;
  auto opened = StateDir::open(dir / "a/b/state");
  REQUIRE(opened.ok());
  struct stat info{};
  REQUIRE(::stat(opened->path().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0700U);
}

TEST_CASE("a directory that was made is removed with what is in it unless it is kept, and one that was there stays") {
  const test::TemporaryFolder dir;
  const auto open_and_write = [&](bool keep) {
    auto opened = StateDir::open(dir / "state");
    REQUIRE(opened.ok());
    REQUIRE(opened->agent_token().ok());
    StateDir moved = *std::move(opened);
    if (keep) moved.keep();
  };
  open_and_write(false);
  CHECK_FALSE(std::filesystem::exists(dir / "state"));
  {
    const auto opened = StateDir::open((dir / "state").string() + "/");
    REQUIRE(opened.ok());
    CHECK(opened->path() == (dir / "state").string());
  }
  CHECK_FALSE(std::filesystem::exists(dir / "state"));
  open_and_write(true);
  CHECK(std::filesystem::exists(dir / "state/agent.token"));
  open_and_write(false);
  CHECK(std::filesystem::exists(dir / "state/agent.token"));
}

TEST_CASE("the room that the state takes is that of the journal and its log") {
  const test::TemporaryFolder dir;
  const auto state = StateDir::open(dir / "state");
  REQUIRE(state.ok());
  REQUIRE(state->room().has_value());
  CHECK(state->room()->journal_bytes == 0);
  CHECK(state->room()->free_bytes > 0);
  std::ofstream(state->file("journal.db")) << std::string(1000, 'x');
  std::ofstream(state->file("journal.db-wal")) << std::string(200, 'x');
  std::ofstream(state->file("agent.log")) << std::string(50, 'x');
  CHECK(state->room()->journal_bytes == 1200);
}

TEST_CASE("a second daemon on the same state is refused and told whose it is") {
  const test::TemporaryFolder dir;
  {
    const auto first = StateDir::open(dir / "state");
    REQUIRE(first.ok());
    const auto second = StateDir::open(dir / "state");
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().message.find("process " + std::to_string(::getpid())) != std::string::npos);
  }
  CHECK(StateDir::open(dir / "state").ok());
}

TEST_CASE("a path that cannot be a directory is an error that names it") {
  const test::TemporaryFolder dir;
  std::ofstream(dir / "file") << "x";
  const auto opened = StateDir::open(dir / "file");
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().code == ErrorCode::kInvalidArgument);
  CHECK(opened.error().message.find("is not a directory") != std::string::npos);
  CHECK_FALSE(StateDir::open("/proc/no-such-place/state").ok());
}

TEST_CASE("the agents' token is made once and kept private") {
  const test::TemporaryFolder dir;
  const auto state = StateDir::open(dir / "state");
  REQUIRE(state.ok());
  const auto token = state->agent_token();
  REQUIRE(token.ok());
  CHECK(token->size() == 48);
  CHECK(*state->agent_token() == *token);
  struct stat info{};
  REQUIRE(::stat(state->file("agent.token").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
  REQUIRE(::chmod(state->file("agent.token").c_str(), 0644) == 0);
  const auto open_to_all = state->agent_token();
  REQUIRE_FALSE(open_to_all.ok());
  CHECK(open_to_all.error().message.find("chmod 600") != std::string::npos);
}

TEST_CASE("a secret that cannot be read is not called empty, which would ask to remove it") {
  const test::TemporaryFolder dir;
  const auto state = StateDir::open(dir / "state");
  REQUIRE(state.ok());
  REQUIRE(::mkdir(state->file("agent.token").c_str(), 0700) == 0);  // unreadable to root, too
  const auto token = state->agent_token();
  REQUIRE_FALSE(token.ok());
  CHECK(token.error().message == "cannot read " + state->file("agent.token") + ": Is a directory");
}

TEST_CASE("a database that may not be opened is to be mended before the next start") {
  const test::TemporaryFolder dir;
  const auto state = StateDir::open(dir / "state");
  REQUIRE(state.ok());
  REQUIRE(::mkdir(state->file("journal.db").c_str(), 0700) == 0);
  const Status kept = state->keep_private("journal.db");
  REQUIRE_FALSE(kept.ok());
  CHECK(kept.error().code == ErrorCode::kInvalidArgument);
  CHECK(kept.error().message.find("Is a directory; mend that") != std::string::npos);
}

TEST_CASE("a journal that is missing or empty beside an identity is not made anew") {
  const test::TemporaryFolder dir;
  const auto state = StateDir::open(dir / "state");
  REQUIRE(state.ok());
  CHECK(state->has_journal().ok());  // the first start
  REQUIRE(state->keep_private("journal.db").ok());
  CHECK(state->has_journal().ok());  // likewise, cut short
  REQUIRE(state->cluster_id().ok());
  CHECK(state->has_journal().error().message.starts_with(state->file("journal.db") + " is empty"));
  std::ofstream(state->file("journal.db")) << "rows";
  CHECK(state->has_journal().ok());
  REQUIRE(::unlink(state->file("journal.db").c_str()) == 0);
  const Status refused = state->has_journal();
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kConflict);
  CHECK(refused.error().message.starts_with(state->file("journal.db") + " is missing"));
}

TEST_CASE("an authority whose folder is gone is asked for, and an empty folder says that it may be made anew") {
  const test::TemporaryFolder dir;
  const auto state = StateDir::open(dir / "state");
  REQUIRE(state.ok());
  const Status refused = state->has_authority();
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kConflict);
  CHECK(refused.error().message.ends_with("mkdir " + state->file("tls")));
  REQUIRE(::mkdir(state->file("tls").c_str(), 0700) == 0);
  CHECK(state->has_authority().ok());
}

TEST_CASE("a database and what lies beside it become private") {
  const test::TemporaryFolder dir;
  const auto state = StateDir::open(dir / "state");
  REQUIRE(state.ok());
  const std::string beside = state->file("journal.db-wal");
  std::ofstream(beside) << "rows";
  REQUIRE(::chmod(beside.c_str(), 0644) == 0);
  REQUIRE(state->keep_private("journal.db").ok());
  for (const std::string& path : {state->file("journal.db"), beside}) {
    struct stat info{};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }
}

TEST_CASE("hashes are SHA-256 and tokens differ") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(new_token().text() != new_token().text());
  CHECK(equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(equal_in_constant_time("abc", "ab"));
}

TEST_CASE("a stranger's text cannot forge a log line") {
  CHECK(escape_controls("a\nb\x1b[0m\x7f") == "a\\x0ab\\x1b[0m\\x7f");
}

}  // namespace tidepool::live
