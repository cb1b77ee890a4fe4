// A real schedulerd process on a free loopback port, with its agent and workers. What it leaves behind
// is ended with the test: every process that knows the test's private folder.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/http_client.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {

// Processes that have `text` in their command line or environment, without this one.
[[nodiscard]] std::vector<pid_t> processes_with(const std::string& text);
[[nodiscard]] bool process_lives(pid_t pid);

// The path of a built program, or none (then the reason is printed and the test may end).
[[nodiscard]] std::optional<std::string> built_program(const std::string& name);

class DaemonProcess {
 public:
  struct Options {
    std::vector<std::string> arguments;           // beside --listen and --state-dir
    std::string state_dir;                        // empty = "state" in the folder
    std::optional<std::uint64_t> file_bytes_max;  // RLIMIT_FSIZE
    bool free_port = true;                        // adds --listen 127.0.0.1:0
    bool temporary = false;  // no --state-dir; with --dev the daemon makes one, which lies in the folder
  };
  DaemonProcess(const TemporaryFolder& folder, Options options);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // Waits for the ready line; false if the process ended before.
  bool wait_ready();
  [[nodiscard]] const nlohmann::json& ready() const { return ready_; }
  [[nodiscard]] HttpClient client() const;

  void signal(int number) const;
  // The exit code, or minus the signal; none if it still runs after `seconds`.
  std::optional<int> wait_exit(int seconds = 30);
  [[nodiscard]] std::string errors() const;  // its stderr so far
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  const TemporaryFolder& folder_;
  std::string stem_;
  pid_t pid_ = 0;
  std::optional<int> exit_;
  nlohmann::json ready_;
};

// Kills every process with the folder's path in its command line or environment.
void end_everything_of(const TemporaryFolder& folder);

}  // namespace tidepool::test
