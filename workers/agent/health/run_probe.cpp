#include "workers/agent/health/run_probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "workers/agent/system/child_process.hpp"

namespace tidepool::agent {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kAnswerMax = 1U << 16U;

std::vector<std::string> environment_with(const std::string& visible_devices) {
  const std::string name = "CUDA_VISIBLE_DEVICES=";
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string(*entry).rfind(name, 0) != 0) result.emplace_back(*entry);
  }
  result.push_back(name + visible_devices);
  return result;
}

// Everything the child writes until it ends or is cut off; false at the deadline.
bool read_until_end(int fd, Clock::time_point deadline, std::string& text) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = left <= 0 ? 0 : ::poll(&entry, 1, static_cast<int>(left));
    if (ready == 0) return false;
    if (ready < 0) continue;  // a signal of the agent's
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(bytes.data(), static_cast<std::size_t>(got));
    if (text.size() > kAnswerMax) text.erase(0, text.size() - kAnswerMax);
  }
}

// The libraries may have said something before or after it.
std::string last_line_that(const std::string& text, bool (*wanted)(const std::string&)) {
  std::string found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (wanted(line)) found = line;
    begin = end + 1;
  }
  return found;
}

}  // namespace

Result<DeviceFigures> run_probe(const ProbeCommand& command) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return io_error("no pipe to the probe can be made");
  const UniqueFd from_child(pipe[0]);
  UniqueFd to_us(pipe[1]);
  ChildSpec spec{.program = command.program,
                 .argv = {"tidepool-probe"},
                 .environment = environment_with(command.visible_devices),
                 .workdir = {},
                 .output = to_us.get()};
  spec.argv.insert(spec.argv.end(), command.arguments.begin(), command.arguments.end());
  const auto child = start_child(spec, [](pid_t) { return ok_status(); });
  if (!child.ok()) return child.error();
  to_us.reset();
  std::string text;
  const bool ended = read_until_end(from_child.get(), Clock::now() + command.deadline, text);
  if (!ended) ::kill(-child->pid, SIGKILL);
  int status = 0;
  while (::waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    return Error{ErrorCode::kUnavailable, "the probe gave no answer within " +
                                              std::to_string(command.deadline.count() / 1'000) +
                                              " s and was killed; the device may hang"};
  }
  const std::string answer = last_line_that(text, [](const std::string& line) { return line.rfind('{', 0) == 0; });
  if (!answer.empty()) return decode_figures(answer);
  const std::string reason = last_line_that(text, [](const std::string& line) { return !line.empty(); });
  return Error{ErrorCode::kUnavailable, "the probe failed: " + (reason.empty() ? "it said nothing" : reason)};
}

}  // namespace tidepool::agent
