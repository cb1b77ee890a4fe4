#include "tests/support/daemon_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/support/file_text.hpp"

namespace tidepool::test {
namespace {

// Only async-signal-safe calls between fork and exec.
[[noreturn]] void become(const std::vector<char*>& argv, int out, int err,
                         std::optional<std::uint64_t> file_bytes_max) {
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (file_bytes_max) {
    const rlimit limit{*file_bytes_max, *file_bytes_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (pid == ::getpid()) continue;
    const std::string known = text_of_file("/proc/" + name + "/cmdline") + text_of_file("/proc/" + name + "/environ");
    if (known.find(text) != std::string::npos) found.push_back(pid);
  }
  return found;
}

bool process_lives(pid_t pid) {
  // A zombie has an empty command line.
  return ::kill(pid, 0) == 0 && !text_of_file("/proc/" + std::to_string(pid) + "/cmdline").empty();
}

std::optional<std::string> built_program(const std::string& name) {
  const char* folder = std::getenv("TIDEPOOL_BIN_DIR");
  const std::string path = std::string(folder == nullptr ? "" : folder) + "/" + name;
  if (::access(path.c_str(), X_OK) == 0) return path;
  std::printf("SKIPPED: there is no %s in TIDEPOOL_BIN_DIR; build the whole project\n", name.c_str());
  return std::nullopt;
}

DaemonProcess::DaemonProcess(const TemporaryFolder& folder, Options options) : folder_(folder) {
  static std::atomic<int> count{0};
  stem_ = (folder / ("daemon-" + std::to_string(++count))).string();
  std::vector<std::string> words = {built_program("schedulerd").value_or("schedulerd")};
  if (options.temporary) {
    // env sets the folder and becomes the daemon, so the process id stays.
    words.insert(words.begin(), {"/usr/bin/env", "TMPDIR=" + folder.path().string()});
  } else {
    words.insert(words.end(),
                 {"--state-dir", options.state_dir.empty() ? (folder / "state").string() : options.state_dir});
  }
  if (options.free_port) words.insert(words.end(), {"--listen", "127.0.0.1:0"});
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int out = ::open((stem_ + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int err = ::open((stem_ + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  pid_ = ::fork();
  if (pid_ == 0) become(argv, out, err, options.file_bytes_max);
  ::close(out);
  ::close(err);
}

DaemonProcess::~DaemonProcess() {
  if (exit_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool DaemonProcess::wait_ready() {
  std::string line;
  (void)eventually([&] {
    line = text_of_file(stem_ + ".out");
    return line.find('\n') != std::string::npos || wait_exit(0).has_value();
  });
  if (!line.starts_with("ready ")) return false;
  ready_ = nlohmann::json::parse(line.substr(6));
  return true;
}

HttpClient DaemonProcess::client() const {
  std::string token = text_of_file((folder_ / "state/admin.token").string());
  while (!token.empty() && token.back() == '\n') token.pop_back();
  return {ready_.at("url").get<std::string>(), token};
}

void DaemonProcess::signal(int number) const {
  ::kill(pid_, number);
}

std::optional<int> DaemonProcess::wait_exit(int seconds) {
  if (exit_) return exit_;
  int status = 0;
  (void)eventually(
      [&] {
        if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
        exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        return true;
      },
      seconds);
  return exit_;
}

std::string DaemonProcess::errors() const {
  return text_of_file(stem_ + ".err");
}

void end_everything_of(const TemporaryFolder& folder) {
  const std::string path = folder.path().string();
  (void)eventually(
      [&] {
        const auto left = processes_with(path);
        for (const pid_t pid : left) ::kill(pid, SIGKILL);
        return left.empty();
      },
      10);
}

}  // namespace tidepool::test
