#include "tests/integration/agent/daemon_stand_in.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "workers/agent/agent_options.hpp"

#include "base/digest.hpp"
#include "tests/support/patience.hpp"
#include "workers/agent/memory_tier.hpp"
#include "workers/agent/system/child_process.hpp"
#include "workers/agent/system/proc_info.hpp"

namespace tidepool::test {
namespace {

namespace fs = std::filesystem;
using agent::UniqueFd;
using std::chrono::steady_clock;

const auto kPatience = std::chrono::seconds(20) * patience();
constexpr int kPollMs = 5;

[[noreturn]] void fail(const std::string& attempt) {
  throw std::system_error(errno, std::generic_category(), attempt);
}

sockaddr_un address_of(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) throw std::runtime_error("too long for a socket: " + text);
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

void wait_readable(int fd, const std::string& what) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  const auto patience_ms = static_cast<int>(std::chrono::milliseconds(kPatience).count());
  if (::poll(&entry, 1, patience_ms) != 1) throw std::runtime_error("waited in vain for " + what);
}

}  // namespace

LineEnd LineEnd::connect_to(const fs::path& path) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("connect to " + path.string());
  }
  return LineEnd(std::move(socket));
}

void LineEnd::send(const std::string& line) const {
  if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) fail("send");
}

std::optional<std::string> LineEnd::receive() {
  std::string line;
  while (!lines_.next(line)) {
    wait_readable(socket_.get(), "a line");
    char buffer[65'536];
    const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (got <= 0) return std::nullopt;
    if (!lines_.append({buffer, static_cast<std::size_t>(got)}).ok()) throw std::runtime_error("a line too long");
  }
  return line;
}

DaemonStandIn::DaemonStandIn(fs::path socket)
    : path_(std::move(socket)), cluster_("test-" + Digest().mix(path_.string()).text()) {
  rise();
}

DaemonStandIn::~DaemonStandIn() {
  std::error_code error;
  fs::remove_all(memory_folder(), error);
}

fs::path DaemonStandIn::memory_folder() const {
  agent::AgentOptions options;
  options.state_dir = path_.parent_path() / "s";
  return options.memory_folder() / cluster_;
}

void DaemonStandIn::die() {
  listener_.reset();
  link_.close();
  fs::remove(path_);
}

void DaemonStandIn::rise() {
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path_);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
  if (::listen(listener_.get(), 8) != 0) fail("listen");
}

api::AgentHello DaemonStandIn::welcome(std::int64_t heartbeat_ms) {
  wait_readable(listener_.get(), "an agent");
  link_ = LineEnd(UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  auto hello = std::get<api::AgentHello>(receive());
  send(api::AgentWelcome{
      .node = NodeId(1), .heartbeat_ms = heartbeat_ms, .patience_ms = 5 * heartbeat_ms, .cluster = cluster_});
  return hello;
}

api::AgentToDaemon DaemonStandIn::receive() {
  const auto line = link_.receive();
  if (!line) throw std::runtime_error("the agent hung up");
  auto message = api::decode_agent_to_daemon(*line);
  if (!message) throw std::runtime_error(message.error().message + " in " + *line);
  return std::move(*message);
}

void DaemonStandIn::start(WorkerId worker, const std::string& shell_script) {
  send(api::StartWorker{.worker = worker,
                        .job = JobId(1),
                        .slots = {0},
                        .program = "/bin/sh",
                        .argv = {"-c", shell_script},
                        .spec = R"({"name":"demo"})"});
}

api::WorkerExitedReport DaemonStandIn::exit_of(WorkerId worker) {
  for (;;) {
    auto report = next<api::WorkerExitedReport>();
    if (report.worker == worker) return report;
  }
}

api::LogChunk DaemonStandIn::read_log(WorkerId worker, std::int64_t offset, std::int64_t limit) {
  send(api::LogRead{.request = ++requests_, .worker = worker, .offset = offset, .limit = limit});
  auto chunk = next<api::LogChunk>();
  if (chunk.request != requests_) throw std::runtime_error("an answer to another request");
  return chunk;
}

std::string DaemonStandIn::log_with(WorkerId worker, const std::string& text) {
  std::string log;
  eventually("the log to contain \"" + text + "\"", [&] {
    log = read_log(worker, 0).data;
    return log.find(text) != std::string::npos;
  });
  return log;
}

AgentProcess::AgentProcess(fs::path folder, std::vector<std::string> arguments) {
  const char* bin = std::getenv("TIDEPOOL_BIN_DIR");
  if (bin == nullptr) throw std::runtime_error("TIDEPOOL_BIN_DIR is not set; run this test through ctest");
  output_ = folder / "agentd.log";
  const UniqueFd output(::open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  agent::ChildSpec spec{
      .program = std::string(bin) + "/agentd", .argv = {"agentd", "--isolation", "none"}, .output = output.get()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = {"HOME=" + folder.string(), "PATH=/usr/bin:/bin"};
  auto child = agent::start_child(spec, [](pid_t) { return ok_status(); });
  if (!child) throw std::runtime_error(child.error().message);
  pid_ = child->pid;
  const auto flag = std::find(arguments.begin(), arguments.end(), "--state-dir");
  if (flag != arguments.end() && flag + 1 != arguments.end()) state_dir_ = *(flag + 1);
}

AgentProcess::~AgentProcess() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  std::error_code error;
  for (fs::directory_iterator entry(state_dir_ / "workers", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto record = nlohmann::json::parse(std::ifstream(entry->path()), nullptr, false);
    const auto worker = WorkerId::parse(entry->path().stem().string());
    if (!worker || !record.is_object()) continue;
    const auto members = agent::group_members(record.value("pid", 0), *worker);
    if (!members.ok()) continue;
    for (const pid_t member : *members) ::kill(member, SIGKILL);
  }
}

void AgentProcess::signal(int signal) const {
  if (::kill(pid_, signal) != 0) fail("signal agentd");
}

void AgentProcess::fill_disk(bool is_full) const {
  rlimit limit{};
  const bool is_known = ::prlimit(pid_, RLIMIT_FSIZE, nullptr, &limit) == 0;
  limit.rlim_cur = is_full ? 0 : limit.rlim_max;
  if (!is_known || ::prlimit(pid_, RLIMIT_FSIZE, &limit, nullptr) != 0) fail("bound the files of agentd");
}

int AgentProcess::wait() {
  int status = 0;
  eventually("agentd to end", [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string AgentProcess::output() const {
  std::ostringstream text;
  text << std::ifstream(output_).rdbuf();
  return text.str();
}

void eventually(const std::string& what, const std::function<bool()>& done) {
  const auto end = steady_clock::now() + kPatience;
  while (!done()) {
    if (steady_clock::now() > end) throw std::runtime_error("waited in vain for " + what);
    ::poll(nullptr, 0, kPollMs);
  }
}

bool process_lives(pid_t pid) {
  const auto stat = agent::read_proc_stat(pid);
  return stat && stat->state != 'Z';
}

}  // namespace tidepool::test
