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

  // The programs started so far, once the newest one has ended.
  std::ptrdiff_t starts() {
    REQUIRE(eventually([&] { return !agent.lives(); }));
    return starts_in(folder);
  }
  // As a running agent holds it.
  [[nodiscard]] int lock() const {
    std::filesystem::create_directories(folder / "agent");
    const int file = ::open((folder / "agent" / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(::flock(file, LOCK_EX | LOCK_NB) == 0);
    return file;
  }
};

}  // namespace

TEST_CASE("the daemon's own agent is started again as soon as its process has ended, and not while one runs") {
  Tended tended;
  REQUIRE(tended.agent.start().ok());
  REQUIRE(tended.starts() == 1);

  const int lock = tended.lock();
  for (int calls = 0; calls < 10; ++calls) tended.agent.tend();
  CHECK(tended.starts() == 1);
  ::close(lock);
  tended.agent.tend();
  CHECK(tended.starts() == 2);
  tended.agent.tend();
  CHECK(tended.starts() == 3);
}

TEST_CASE("an agent that an earlier daemon started is left running, and followed once it has ended") {
  Tended tended;
  const int lock = tended.lock();
  REQUIRE(tended.agent.start().ok());
  tended.agent.tend();
  CHECK(tended.starts() == 0);
  ::close(lock);
  tended.agent.tend();
  CHECK(tended.starts() == 1);
}

}  // namespace tidepool::test
