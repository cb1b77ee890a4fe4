#include "workers/agent/process_runner.hpp"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

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

  [[nodiscard]] Status start_stopped(const std::string& workdir, const std::string& make_folder = {}) {
    const ChildSpec spec{.program = "/bin/sh",
                         .argv = {"sh", "-c", "exit 5"},
                         .workdir = workdir,
                         .make_folder = make_folder,
                         .output = output.get()};
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

TEST_CASE("the folder of a program's states is made by its own process, whose file system is not waited for") {
  for (const bool from_workdir : {false, true}) {
    StoppedStart scene;
    const std::filesystem::path root = scene.folder.path();
    const std::string folder = from_workdir ? "a/b/c" : (root / "a/b/c").string();
    REQUIRE(scene.start_stopped(from_workdir ? root.string() : std::string(), folder).ok());
    CHECK_FALSE(std::filesystem::exists(root / "a"));
    CHECK(scene.goes_on().exit_code == 5);
    CHECK(std::filesystem::is_directory(root / "a/b/c"));
  }
}

TEST_CASE("a folder of states that cannot be made is told as the reason of the end") {
  StoppedStart scene;
  const std::filesystem::path file = scene.folder.path() / "file";
  std::ofstream(file) << "x";
  REQUIRE(scene.start_stopped({}, (file / "states").string()).ok());
  const ProcessEnd end = scene.goes_on();
  CHECK_THAT(end.detail, Catch::Contains("make the checkpoint folder " + file.string() + ": File exists"));
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
