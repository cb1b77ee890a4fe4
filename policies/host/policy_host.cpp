#include "policies/host/policy_host.hpp"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "policies/host/shared_memory.hpp"
#include "policies/host/spawn_plan.hpp"

namespace tidepool::policies::host {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Duration kStartWall = Duration::seconds(20);  // a program may start slowly on a busy machine
constexpr Duration kEndWall = Duration::seconds(5);     // from its last word to its end
constexpr int kFirstFreeFd = 16;                        // above all that a host is born with

int milliseconds_until(SteadyClock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

// A copy whose number collides with none that the child is to have.
Descriptor high_copy(int fd) {
  return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, kFirstFreeFd));
}

std::string name_of_call(std::uint32_t number) {
  char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number));
  std::string text = name == nullptr ? "number " + std::to_string(number) : name;
  std::free(name);
  return text;
}

PolicyFault fault_of_end(int status) {
  if (WIFEXITED(status)) {
    return {.code = "policy.exited",
            .message = "it ended its process with status " + std::to_string(WEXITSTATUS(status)),
            .numbers = {{"status", double(WEXITSTATUS(status))}}};
  }
  const int signal = WTERMSIG(status);
  PolicyFault fault{.code = "policy.crashed",
                    .message = std::string("its process died of ") + sigdescr_np(signal),
                    .numbers = {{"signal", double(signal)}}};
  if (signal == SIGXCPU) {
    fault.code = "policy.cpu_limit";
    fault.message = "it used more processor time than a process may take";
  } else if (signal == SIGSYS) {
    fault.code = "policy.forbidden_call";
    fault.message = "it made a system call that policies must not make";
  }
  return fault;
}

}  // namespace

// A running host with its memory.
class PolicyHost::Process {
 public:
  static std::variant<std::unique_ptr<Process>, PolicyFault> start(const std::string& program, const Source& source);
  ~Process() { end(); }

  [[nodiscard]] std::byte* facts() const { return facts_.data(); }
  [[nodiscard]] std::byte* answers() const { return answers_.data(); }
  [[nodiscard]] pid_t pid() const { return child_; }
  // Whether it has used so much processor time that a fresh one should take its place.
  [[nodiscard]] bool worn_out() const;
  // Whether it can be asked: it has neither ended since its last answer nor said anything unasked.
  [[nodiscard]] bool awaits_request() const;

  // Sends `request` and waits for the answer. A fault means that the process is no more.
  std::variant<Reply, PolicyFault> exchange(const Request& request, Duration wall);

 private:
  Process(SharedMemory facts, SharedMemory answers) : facts_(std::move(facts)), answers_(std::move(answers)) {}
  [[nodiscard]] int spawn(const std::string& program, int source);
  PolicyFault gone();
  void end();

  SharedMemory facts_;
  SharedMemory answers_;
  Descriptor channel_;
  pid_t child_ = 0;  // 0 = none
};

std::variant<std::unique_ptr<PolicyHost::Process>, PolicyFault> PolicyHost::Process::start(const std::string& program,
                                                                                           const Source& source) {
  const auto failed = [](const std::string& why) { return PolicyFault{.code = "policy.not_started", .message = why}; };
  if (access(program.c_str(), X_OK) != 0) {
    return failed("there is no program at " + program + "; install tidepool-policy-host beside schedulerd");
  }
  auto facts = SharedMemory::make(kFactsBytes, SharedMemory::Other::kMayOnlyRead);
  if (!facts) return failed(facts.error().message);
  auto answers = SharedMemory::make(kAnswersBytes, SharedMemory::Other::kMayWrite);
  if (!answers) return failed(answers.error().message);
  const auto file = make_sealed_file(source.bytes);
  if (!file) return failed(file.error().message);
  std::unique_ptr<Process> process(new Process(*std::move(facts), *std::move(answers)));
  if (const int code = process->spawn(program, file->get()); code != 0) {
    return failed("cannot start " + program + ": " + std::strerror(code));
  }
  return process;
}

int PolicyHost::Process::spawn(const std::string& program, int source) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return errno;
  channel_ = Descriptor(pair[0]);
  const Descriptor other(pair[1]);
  const std::array<std::pair<Descriptor, int>, 4> given{{{high_copy(other.get()), kChannelFd},
                                                         {high_copy(facts_.fd()), kFactsFd},
                                                         {high_copy(answers_.fd()), kAnswersFd},
                                                         {high_copy(source), kSourceFd}}};
  SpawnPlan plan;
  plan.open("/dev/null", O_RDONLY, STDIN_FILENO);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) plan.open("/dev/null", O_WRONLY, fd);
  for (const auto& [fd, as] : given) {
    if (fd.get() < 0) return EMFILE;
    plan.give(fd.get(), as);
  }
  std::array<char*, 1> no_environment{nullptr};
  return plan.run({program}, kSourceFd, no_environment.data(), child_);
}

bool PolicyHost::Process::worn_out() const {
  clockid_t clock = 0;
  timespec used{};
  if (clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &used) != 0) return false;
  return static_cast<std::uint64_t>(used.tv_sec) > kProcessorSeconds / 2;
}

bool PolicyHost::Process::awaits_request() const {
  pollfd silent{.fd = channel_.get(), .events = POLLIN, .revents = 0};
  return poll(&silent, 1, 0) == 0;
}

std::variant<Reply, PolicyFault> PolicyHost::Process::exchange(const Request& request, Duration wall) {
  const auto end_at = SteadyClock::now() + std::chrono::microseconds(wall.count_us());
  // It reads each request before it answers: where none fits in, it has answered without reading.
  const ssize_t sent = send(channel_.get(), &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent != static_cast<ssize_t>(sizeof request)) return gone();
  pollfd waiting{.fd = channel_.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, milliseconds_until(end_at));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    end();
    return PolicyFault{.code = "policy.deadline",
                       .message = "it had not answered after " + to_text(wall),
                       .numbers = {{"wall_ms", double(wall.count_ms())}}};
  }
  Reply reply{};
  const ssize_t got = recv(channel_.get(), &reply, sizeof reply, MSG_DONTWAIT);
  if (got <= 0) return gone();
  if (got == static_cast<ssize_t>(sizeof reply) && reply.status == ReplyStatus::kForbidden) {
    end();
    return PolicyFault{.code = "policy.forbidden_call",
                       .message = "it called " + name_of_call(reply.hooks) + ", which no policy may",
                       .numbers = {{"call", double(reply.hooks)}}};
  }
  const bool known = reply.status == ReplyStatus::kDone || reply.status == ReplyStatus::kFailed;
  if (got == static_cast<ssize_t>(sizeof reply) && known) return reply;
  end();
  return PolicyFault{.code = "policy.bad_reply", .message = "it sent something that is no answer"};
}

// The channel is closed: how did it end?
PolicyFault PolicyHost::Process::gone() {
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, child_, 0)));
  pollfd ending{.fd = process.get(), .events = POLLIN, .revents = 0};
  while (poll(&ending, 1, static_cast<int>(kEndWall.count_ms())) < 0 && errno == EINTR) {
  }
  int status = 0;
  if (waitpid(child_, &status, WNOHANG) != child_) {
    end();
    return {.code = "policy.bad_reply", .message = "it closed its channel and stayed"};
  }
  child_ = 0;
  return fault_of_end(status);
}

void PolicyHost::Process::end() {
  if (child_ <= 0) return;
  (void)kill(child_, SIGKILL);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
}

PolicyHost::PolicyHost(Source source, std::string program) : source_(std::move(source)), program_(std::move(program)) {}

PolicyHost::~PolicyHost() = default;

int PolicyHost::process() const {
  return process_ == nullptr ? 0 : process_->pid();
}

std::optional<PolicyFault> PolicyHost::start() {
  if (source_.bytes.empty()) return PolicyFault{.code = "policy.syntax_error", .message = "the file is empty"};
  if (source_.bytes.size() > kSourceBytesMax) {
    return PolicyFault{.code = "policy.wrong_shape",
                       .message = "a policy has at most " + std::to_string(kSourceBytesMax) + " bytes"};
  }
  auto started = Process::start(program_, source_);
  if (auto* fault = std::get_if<PolicyFault>(&started)) return std::move(*fault);
  process_ = std::move(std::get<std::unique_ptr<Process>>(started));
  const auto loaded = process_->exchange({.kind = RequestKind::kLoad,
                                          .engine = source_.engine,
                                          .bytes = source_.bytes.size(),
                                          .instructions = static_cast<std::uint64_t>(source_.budgets.instructions),
                                          .memory = static_cast<std::uint64_t>(source_.budgets.memory_bytes)},
                                         kStartWall);
  std::optional<PolicyFault> fault;
  if (const auto* dead = std::get_if<PolicyFault>(&loaded)) {
    fault = *dead;
  } else if (const auto& reply = std::get<Reply>(loaded); reply.status == ReplyStatus::kDone) {
    hooks_ = reply.hooks;
  } else {
    AnswersHeader header{};
    std::memcpy(&header, process_->answers(), sizeof header);
    fault = read_fault({}, header);
  }
  if (fault) process_.reset();
  return fault;
}

std::variant<std::uint32_t, PolicyFault> PolicyHost::load() {
  if (process_ == nullptr) {
    if (auto fault = start()) return *std::move(fault);
  }
  return hooks_;
}

Judged PolicyHost::ask(const cluster::View& view, std::span<const Param> params) {
  if (process_ != nullptr && (process_->worn_out() || !process_->awaits_request())) process_.reset();
  if (process_ == nullptr) {
    if (auto fault = start()) return *std::move(fault);
  }
  const AnswersLayout layout = layout_of(view);
  const Status written = write_facts(view, params, process_->facts());
  if (!written || layout.end > kAnswersBytes) {
    return PolicyFault{.code = "policy.view_too_large",
                       .message = written ? "there are too many jobs for one view" : written.error().message};
  }
  std::byte* region = process_->answers();
  const AnswersHeader empty{.row = -1};
  std::memcpy(region, &empty, sizeof empty);
  for (std::uint64_t at = layout.admit; at < layout.why; at += sizeof kUnset) {
    std::memcpy(region + at, &kUnset, sizeof kUnset);
  }
  for (std::uint64_t at = layout.why; at < layout.end; at += sizeof(WhyRecord)) region[at] = std::byte{0};
  const auto answered = process_->exchange({.kind = RequestKind::kRound}, source_.budgets.wall);
  if (const auto* dead = std::get_if<PolicyFault>(&answered)) {
    process_.reset();
    return *dead;
  }
  // A copy first: a process that can still write to the region changes nothing that has been checked.
  const std::vector<std::byte> copy(region, region + layout.end);
  if (std::get<Reply>(answered).status == ReplyStatus::kDone) return read_answers(view, copy);
  AnswersHeader header{};
  std::memcpy(&header, copy.data(), sizeof header);
  return read_fault(view, header);
}

std::string policy_host_program() {
  if (const char* named = std::getenv("TIDEPOOL_POLICY_HOST"); named != nullptr && *named != '\0') return named;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return (failed ? std::filesystem::path() : self.parent_path()) / "tidepool-policy-host";
}

}  // namespace tidepool::policies::host
