#include "schedulerd/live/providers/child_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "schedulerd/live/providers/session_kill.hpp"

extern char** environ;

namespace tidepool::live {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kOutputMax = 1U << 20U;
constexpr std::size_t kErrorKept = 4096;
constexpr std::size_t kShown = 100;  // characters
constexpr int kPollMost = 20;        // ms; then whether the program has ended is looked at

class Pipe {
 public:
  Pipe() { open_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    shut(0);
    shut(1);
  }
  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void shut(std::size_t end) {
    if (ends_.at(end) >= 0) ::close(ends_.at(end));
    ends_.at(end) = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
  bool open_ = false;
};

// The input, as a file in memory: a program that does not read it breaks no pipe.
class InputFile {
 public:
  explicit InputFile(const std::string& text) : file_(::memfd_create("input", MFD_CLOEXEC)) {
    std::size_t written = 0;
    while (file_ >= 0 && written < text.size()) {
      const ssize_t wrote = ::write(file_, text.data() + written, text.size() - written);
      if (wrote <= 0) break;
      written += static_cast<std::size_t>(wrote);
    }
    is_whole_ = file_ >= 0 && written == text.size() && ::lseek(file_, 0, SEEK_SET) == 0;
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    if (file_ >= 0) ::close(file_);
  }
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] int file() const { return file_; }

 private:
  int file_;
  bool is_whole_ = false;
};

struct Pipes {
  Pipe out, err;
};

// 0: not started; errno says why.
pid_t spawn(const std::vector<std::string>& command, const InputFile& input, const Pipes& pipes) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.file(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.out.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.err.write_end(), STDERR_FILENO);
  // The daemon's listeners and connections are not theirs, nor those of what they leave running.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments.front(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  errno = failed;
  return failed == 0 ? child : 0;
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "";
  const auto begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

std::string shown(std::string_view text) {
  std::string part(text.substr(0, kShown));
  for (char& letter : part) {
    if (letter == '\n' || letter == '\r' || letter == '\t') letter = ' ';
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return part + (text.size() > kShown ? "..." : "");
}

// Reads until the program has ended, has closed its output, or is beyond a limit.
class Talk {
 public:
  Talk(const ChildRun& run, Pipes& pipes, pid_t child)
      : pipes_(pipes), child_(child), until_(Clock::now() + run.limit) {
    for (const int end : {pipes.out.read_end(), pipes.err.read_end()}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  }

  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;
  ~Talk() { ::waitpid(child_, nullptr, 0); }

  ChildEnd run() {
    while (true) {
      if (Clock::now() >= until_) return killed(ChildEnd::How::kTimeout);
      wait();
      // What it has started in its turn may hold the pipes open for longer: its own end is what counts.
      const bool had_ended = has_ended_;
      const bool got =
          static_cast<int>(read(pipes_.out, end_.output)) + static_cast<int>(read(pipes_.err, errors_)) > 0;
      if (end_.output.size() > kOutputMax) return killed(ChildEnd::How::kTooMuchOutput);
      if (errors_.size() > kErrorKept) errors_.erase(0, errors_.size() - kErrorKept);
      if (had_ended && !got) break;
      if (!has_ended_) look(WNOHANG);
    }
    end_.last_error = last_line(errors_);
    return std::move(end_);
  }

 private:
  // Closed ends are not waited for.
  void wait() {
    std::array<pollfd, 2> polled = {pollfd{pipes_.out.read_end(), POLLIN, 0}, pollfd{pipes_.err.read_end(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), has_ended_ ? 0 : kPollMost);
  }
  // False: there is nothing more, for now or for ever.
  static bool read(Pipe& from, std::string& into) {
    if (from.read_end() < 0) return false;
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(from.read_end(), buffer.data(), buffer.size());
    if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0) from.shut(0);
    return got > 0;
  }
  // It is reaped when all is over: until then the number of its session is no other's.
  void look(int flags) {
    siginfo_t seen{};
    if (::waitid(P_PID, static_cast<id_t>(child_), &seen, WEXITED | WNOWAIT | flags) != 0) return;
    if (seen.si_pid != child_) return;
    has_ended_ = true;
    end_.exit_code = seen.si_code == CLD_EXITED ? seen.si_status : 128 + seen.si_status;
  }
  ChildEnd killed(ChildEnd::How how) {
    kill_session(child_);
    if (!has_ended_) look(0);
    end_.how = how;
    end_.last_error = last_line(errors_);
    return std::move(end_);
  }

  Pipes& pipes_;
  pid_t child_;
  Clock::time_point until_;
  std::string errors_;
  ChildEnd end_;
  bool has_ended_ = false;
};

}  // namespace

std::string shown_output(const ChildEnd& end) {
  constexpr const char* kBlanks = " \r\n\t";
  std::string_view output = end.output;
  output.remove_prefix(std::min(output.find_first_not_of(kBlanks), output.size()));
  output = output.substr(0, output.find_last_not_of(kBlanks) + 1);
  std::string text = output.empty() ? "it printed nothing" : "it printed \"" + shown(output) + "\"";
  if (!end.last_error.empty()) text += "; its standard error ends with \"" + shown(end.last_error) + "\"";
  return text;
}

int ending_signal(const ChildEnd& end) {
  const int signal = end.how == ChildEnd::How::kExited ? end.exit_code - 128 : 0;
  return signal > 0 && signal <= SIGRTMAX ? signal : 0;
}

ChildEnd run_child(const ChildRun& run) {
  Pipes pipes;
  const InputFile input(run.input);
  ChildEnd not_started{.how = ChildEnd::How::kNotStarted,
                       .exit_code = 0,
                       .output = {},
                       .last_error = "too many open files, or no memory"};
  if (run.command.empty() || !input.is_whole() || !pipes.out.is_open() || !pipes.err.is_open()) return not_started;
  const pid_t child = spawn(run.command, input, pipes);
  if (child == 0) {
    not_started.last_error = run.command.front() + ": " + std::strerror(errno);
    return not_started;
  }
  pipes.out.shut(1);
  pipes.err.shut(1);
  return Talk(run, pipes, child).run();
}

}  // namespace tidepool::live
