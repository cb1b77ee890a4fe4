#include "workers/agent/system/child_answer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "workers/agent/system/state_files.hpp"
#include "workers/agent/system/wait_for_end.hpp"

namespace tidepool::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Ended = ChildAnswer::Ended;
constexpr milliseconds kSlice{100};

// Waits until the descriptor is readable; none: it is readable.
std::optional<Ended> why_not_awaited(int fd, Clock::time_point deadline, const AnswerLimits& limits) {
  for (;;) {
    if (limits.gives_up && limits.gives_up()) return Ended::kGivenUp;
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (left <= milliseconds(0)) return Ended::kLate;
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    const auto wait = limits.gives_up ? std::min(left, kSlice) : left;
    // Otherwise a signal to the agent interrupted the wait.
    if (::poll(&entry, 1, static_cast<int>(wait.count())) > 0) return std::nullopt;
  }
}

// A program may close its output long before it ends; its pidfd reports the end.
Ended read_until_end(int fd, int pidfd, const AnswerLimits& limits, std::string& text) {
  const auto deadline = Clock::now() + limits.within;
  for (;;) {
    if (const auto ended = why_not_awaited(fd, deadline, limits)) return *ended;
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return why_not_awaited(pidfd, deadline, limits).value_or(Ended::kItself);
    text.append(bytes.data(), static_cast<std::size_t>(got));
    if (text.size() > limits.text_max) text.erase(0, text.size() - limits.text_max);
  }
}

}  // namespace

Result<ChildAnswer> ask_child(ChildSpec spec, const AnswerLimits& limits) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return errno_error("create a pipe");
  const UniqueFd from_child(pipe[0]);
  UniqueFd to_us(pipe[1]);
  spec.output = to_us.get();
  const auto child = start_child(spec, [](pid_t) { return ok_status(); });
  if (!child.ok()) return child.error();
  to_us.reset();
  ChildAnswer answer;
  answer.ended = read_until_end(from_child.get(), child->pidfd.get(), limits, answer.text);
  if (answer.ended != Ended::kItself) ::kill(-child->pid, SIGKILL);
  answer.status = wait_for_end(child->pid);
  return answer;
}

}  // namespace tidepool::agent
