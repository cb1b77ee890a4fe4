#include "workers/agent/process_runner.hpp"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::agent {
namespace {

constexpr WorkerId kSlow(1);

// One program, of which each start stops before it has entered its folder, as on a file system that does not answer.
struct StoppedStart {
  test::TemporaryFolder folder;
  boost::asio::io_context io;
  std::vector<ProcessEnd> ends;
  ProcessRunner runner{io, [this](const ProcessEnd& end) { ends.push_back(end); }};
  UniqueFd output{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  pid_t pid = 0;

  [[nodiscard]] Status start_stopped(const std::string& workdir) {
    const ChildSpec spec{
        .program = "/bin/sh", .argv = {"sh", "-c", "exit 5"}, .workdir = workdir, .output = output.get()};
    return runner.start({.worker = kSlow, .job = JobId(1)}, spec, [this](const ProcessRecord& record) {
      pid = record.pid;
      return ::kill(pid, SIGSTOP) == 0 ? ok_status() : Status(io_error("could not stop it"));
    });
  }
  [[nodiscard]] ProcessEnd goes_on() {
    REQUIRE(ends.empty());
    REQUIRE(::kill(pid, SIGCONT) == 0);
    io.run();
    REQUIRE(ends.size() == 1);
    return ends.front();
  }
};

TEST_CASE("a program that does not start for long is not waited for, and runs once it can") {
  StoppedStart scene;
  REQUIRE(scene.start_stopped(scene.folder.path()).ok());
  CHECK(scene.runner.workers() == std::vector<WorkerId>{kSlow});
  const ProcessEnd end = scene.goes_on();
  CHECK(end.exit_code == 5);
  CHECK(end.detail.empty());
}

TEST_CASE("a start that fails late is told with its reason, as one that fails at once") {
  StoppedStart scene;
  REQUIRE(scene.start_stopped(scene.folder.path() / "missing").ok());
  const ProcessEnd end = scene.goes_on();
  CHECK(end.exit_code == 2);
  CHECK(end.signal == 0);
  CHECK(end.detail.starts_with("could not enter the working directory"));
  CHECK(end.detail.ends_with("No such file or directory"));
}

TEST_CASE("a start that does not come about can be ended") {
  StoppedStart scene;
  REQUIRE(scene.start_stopped(scene.folder.path()).ok());
  REQUIRE(::kill(scene.pid, SIGKILL) == 0);
  scene.io.run();
  REQUIRE(scene.ends.size() == 1);
  CHECK(scene.ends.front().signal == SIGKILL);
  CHECK(scene.ends.front().detail.empty());
}

}  // namespace
}  // namespace tidepool::agent
