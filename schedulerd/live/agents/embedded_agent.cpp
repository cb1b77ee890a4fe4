#include "schedulerd/live/agents/embedded_agent.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "policies/host/spawn_plan.hpp"

namespace tidepool::live {
namespace {

constexpr int kLifeline = 3;  // the descriptor in the agent

void close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

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
  if (options_.ends_with_daemon && ::pipe2(lifeline_.data(), O_CLOEXEC) != 0) {
    return io_error(std::string("cannot create the agent's lifeline: ") + std::strerror(errno));
  }
  return is_running() ? ok_status() : spawn();
}

EmbeddedAgent::~EmbeddedAgent() {
  for (int& end : lifeline_) close_end(end);
}

void EmbeddedAgent::release() {
  close_end(lifeline_[1]);
}

void EmbeddedAgent::hurry() const {
  if (child_ != 0) ::kill(child_, SIGTERM);
}

bool EmbeddedAgent::lives() {
  if (child_ != 0 && ::waitpid(child_, nullptr, WNOHANG) != 0) child_ = 0;
  return child_ != 0;
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
                                    "60s",
                                    "--isolation",
                                    options_.isolation,
                                    "--syscall-filter",
                                    options_.syscall_filter,
                                    "--metadata",
                                    options_.metadata};
  for (const IpNetwork& network : options_.denied) words.insert(words.end(), {"--deny-address", to_text(network)});
  if (!options_.data_address.empty()) words.insert(words.end(), {"--data-address", options_.data_address});
  policies::host::SpawnPlan plan;
  plan.open("/dev/null", O_RDONLY, STDIN_FILENO);
  plan.open(options_.log_file, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
  plan.give(STDOUT_FILENO, STDERR_FILENO);
  if (options_.ends_with_daemon) {
    words.insert(words.end(), {"--lifeline", std::to_string(kLifeline)});
    plan.give(lifeline_[0], kLifeline);
  }
  const int last = options_.ends_with_daemon ? kLifeline : STDERR_FILENO;
  if (const int failed = plan.run(words, last, environ, child_); failed != 0) {
    child_ = 0;
    return io_error("cannot start " + options_.program + ": " + std::strerror(failed));
  }
  spdlog::info("event=agent_started pid={} slots={} log={}", child_, options_.slots, options_.log_file);
  return ok_status();
}

// An agent holds the lock of its state directory until its process has ended (workers/agent/state_lock.hpp).
bool EmbeddedAgent::is_running() const {
  const int file = ::open((options_.state_dir + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return is_held;
}

void EmbeddedAgent::tend() {
  int status = 0;
  if (child_ != 0 && ::waitpid(child_, &status, WNOHANG) == child_) {
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    spdlog::log(well ? spdlog::level::info : spdlog::level::warn, "event=agent_exited pid={} status={} log={}", child_,
                WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), options_.log_file);
    child_ = 0;
  }
  if (child_ != 0 || is_running()) return;
  if (const Status spawned = spawn(); !spawned.ok())
    spdlog::error("event=agent_failed why={:?}", spawned.error().message);
}

}  // namespace tidepool::live
