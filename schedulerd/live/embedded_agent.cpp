#include "schedulerd/live/embedded_agent.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

namespace tidepool::live {
namespace {

constexpr int kAbsentCallsMax = 5;  // an agent that is only reconnecting is back by then

// Everything about the new process that posix_spawn is told.
class SpawnPlan {
 public:
  explicit SpawnPlan(const std::string& log_file) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
    // Our listening sockets must not live on in a process that outlives us.
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // 0 or an errno.
  int run(std::vector<std::string>& words, pid_t& child) {
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return posix_spawn(&child, argv[0], &files_, &attributes_, argv.data(), environ);
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::string sibling_program(const std::string& name) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? name : (self.parent_path() / name).string();
}

Status EmbeddedAgent::start() {
  if (::access(options_.program.c_str(), X_OK) != 0) {
    return invalid_argument("there is no agentd at " + options_.program +
                            "; install it beside schedulerd or start without --dev and --local-slots");
  }
  std::error_code failed;
  std::filesystem::create_directories(options_.state_dir, failed);
  if (failed) return io_error("cannot create " + options_.state_dir + ": " + failed.message());
  return spawn();
}

Status EmbeddedAgent::spawn() {
  std::vector<std::string> words = {options_.program,
                                    "--daemon-socket",
                                    options_.socket_path,
                                    "--state-dir",
                                    options_.state_dir,
                                    "--node",
                                    kLocalNode,
                                    "--slots",
                                    std::to_string(options_.slots),
                                    "--token-file",
                                    options_.token_file,
                                    "--price",
                                    to_text(options_.price_per_slot_hour),
                                    "--exit-when-idle",
                                    "60s"};
  SpawnPlan plan(options_.log_file);
  if (const int failed = plan.run(words, child_); failed != 0) {
    child_ = 0;
    return io_error("cannot start " + options_.program + ": " + std::strerror(failed));
  }
  spdlog::info("event=agent_started pid={} slots={} log={}", child_, options_.slots, options_.log_file);
  return ok_status();
}

void EmbeddedAgent::tend(bool connected) {
  int status = 0;
  if (child_ != 0 && ::waitpid(child_, &status, WNOHANG) == child_) {
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    spdlog::log(well ? spdlog::level::info : spdlog::level::warn, "event=agent_exited pid={} status={} log={}", child_,
                WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), options_.log_file);
    child_ = 0;
    // An agent of ours that died is missed at once, before its node counts as lost: its workers train on.
    if (!well) {
      connected = false;
      absent_ = kAbsentCallsMax;
    }
  }
  absent_ = connected || child_ != 0 ? 0 : absent_ + 1;
  if (absent_ < kAbsentCallsMax) return;
  absent_ = 0;
  if (const Status spawned = spawn(); !spawned.ok())
    spdlog::error("event=agent_failed why=\"{}\"", spawned.error().message);
}

}  // namespace tidepool::live
