#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "schedulerd/live/agents/embedded_agent.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {
namespace {

// Stands in for agentd: notes that it was started, and ends.
std::string program_in(const TemporaryFolder& folder) {
  const auto path = folder / "agentd";
  std::ofstream(path) << "#!/bin/sh\necho started >> " << (folder / "starts").string() << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

std::ptrdiff_t starts_in(const TemporaryFolder& folder) {
  std::ifstream file(folder / "starts");
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

struct Tended {
  TemporaryFolder folder;
  live::EmbeddedAgent agent{{.program = program_in(folder),
                             .socket_path = {},
                             .token_file = {},
                             .state_dir = (folder / "agent").string(),
                             .log_file = (folder / "agent.log").string()}};

  // A call without a connection; the started process has ended before it.
  void tend() {
    REQUIRE(eventually([&] { return !agent.lives(); }));
    agent.tend(false);
  }
  std::ptrdiff_t starts() {
    REQUIRE(eventually([&] { return !agent.lives(); }));
    return starts_in(folder);
  }
};

}  // namespace

TEST_CASE("an agent that an earlier daemon started is missed as soon as its process has ended") {
  Tended tended;
  REQUIRE(tended.agent.start().ok());
  REQUIRE(tended.starts() == 1);

  const int lock = ::open((tended.folder / "agent" / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::flock(lock, LOCK_EX | LOCK_NB) == 0);
  for (int calls = 0; calls < 4; ++calls) tended.tend();
  CHECK(tended.starts() == 1);  // it runs, and may be about to connect again
  ::close(lock);
  tended.tend();
  CHECK(tended.starts() == 2);
  tended.tend();
  CHECK(tended.starts() == 3);
  tended.agent.tend(true);
  CHECK(tended.starts() == 3);
}

TEST_CASE("an agent that runs and does not connect for five calls is started again") {
  Tended tended;
  REQUIRE(tended.agent.start().ok());
  REQUIRE(tended.starts() == 1);
  const int lock = ::open((tended.folder / "agent" / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::flock(lock, LOCK_EX | LOCK_NB) == 0);
  for (int calls = 0; calls < 5; ++calls) tended.tend();
  CHECK(tended.starts() == 2);
  ::close(lock);
}

}  // namespace tidepool::test
