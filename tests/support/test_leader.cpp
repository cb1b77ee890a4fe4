#include "tests/support/test_leader.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/check.hpp"
#include "tests/support/patience.hpp"

namespace tidepool::test {

TestLeader::TestLeader(Program program) : program_(std::move(program)) {
  listen();
}

TestLeader::~TestLeader() {
  for (const auto& [worker, pid] : processes_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  go_away();
}

void TestLeader::listen() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder_ / "agent.sock").c_str(), sizeof address.sun_path - 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const bool bound = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  TP_CHECK(bound && ::listen(listener_, 64) == 0, "the test leader listens");
}

WorkerId TestLeader::spawn() {
  const WorkerId worker(++last_worker_);
  const WorkerPlace place{.worker = worker, .socket_path = (folder_ / "agent.sock").string()};
  const pid_t pid = ::fork();
  TP_CHECK(pid >= 0, "the test can start processes");
  if (pid == 0) {
    ::close(listener_);
    for (const auto& [fd, link] : links_) ::close(fd);
    std::_Exit(program_(place));
  }
  processes_.emplace(worker, pid);
  return worker;
}

void TestLeader::commit(std::vector<WorkerId> members, bool after_failure) {
  announce(std::move(members), after_failure, false);
}

void TestLeader::park(bool after_failure) {
  announce({}, after_failure, true);
}

void TestLeader::order_checkpoint() {
  for (const WorkerId worker : members_) send(worker, api::CheckpointOrder{});
}

void TestLeader::share(std::vector<std::int64_t> weights) {
  const std::int64_t number = shares_ ? shares_->number + 1 : 1;
  shares_ = api::SharesMessage{.generation = generation_, .number = number, .weights = std::move(weights)};
  for (const WorkerId worker : members_) send(worker, *shares_);
}

std::optional<api::PulseMessage> TestLeader::pulse(WorkerId worker) const {
  const auto found = pulses_.find(worker);
  return found == pulses_.end() ? std::nullopt : std::optional(found->second);
}

void TestLeader::announce(std::vector<WorkerId> members, bool after_failure, bool park) {
  audience_ = {members_.begin(), members_.end()};
  audience_.insert(members.begin(), members.end());
  members_ = std::move(members);
  after_failure_ = after_failure;
  park_ = park;
  addresses_.clear();
  shares_.reset();
  ++generation_;
  repeat_generation();
}

void TestLeader::repeat_generation() {
  for (const WorkerId worker : audience_) {
    send(worker, api::GenerationMessage{
                     .number = generation_, .members = members_, .after_failure = after_failure_, .park = park_});
  }
}

void TestLeader::kill(WorkerId worker) {
  signal(worker, SIGKILL);
}

void TestLeader::signal(WorkerId worker, int signal_number) {
  if (alive(worker)) ::kill(processes_.at(worker), signal_number);
}

void TestLeader::go_away() {
  for (const auto& [fd, link] : links_) ::close(fd);
  links_.clear();
  if (listener_ >= 0) ::close(listener_);
  listener_ = -1;
  std::filesystem::remove(folder_ / "agent.sock");
}

void TestLeader::come_back() {
  listen();
}

bool TestLeader::run_until(const std::function<bool()>& done, int timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms) * patience();
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pump(2);
  }
  return true;
}

void TestLeader::pump(int wait_ms) {
  std::vector<pollfd> polled;
  if (listener_ >= 0) polled.push_back({listener_, POLLIN, 0});
  for (const auto& [fd, link] : links_) polled.push_back({fd, POLLIN, 0});
  ::poll(polled.data(), polled.size(), wait_ms);
  for (const pollfd& entry : polled) {
    if (entry.revents == 0) continue;
    if (entry.fd == listener_) {
      accept_link();
    } else if (links_.contains(entry.fd)) {
      read_link(entry.fd);
    }
  }
  if (listener_ >= 0) reap();  // a daemon that is away learns of deaths when it is back
}

void TestLeader::accept_link() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) links_.emplace(fd, Link{});
}

void TestLeader::read_link(int fd) {
  char bytes[65'536];
  const ssize_t received = ::recv(fd, bytes, sizeof bytes, 0);
  if (received < 0) return;
  if (received == 0) {
    ::close(fd);
    links_.erase(fd);
    return;
  }
  TP_CHECK(links_.at(fd).lines.append({bytes, static_cast<std::size_t>(received)}).ok(), "workers send short lines");
  std::string line;
  while (links_.contains(fd) && links_.at(fd).lines.next(line)) handle(fd, line);
}

void TestLeader::handle(int fd, const std::string& line) {
  const auto message = api::decode_worker_to_agent(line);
  TP_CHECK(message.ok(), "workers keep to the protocol");
  if (const auto* hello = std::get_if<api::WorkerHello>(&*message)) {
    links_.at(fd).worker = hello->worker;
    return;
  }
  if (const auto* pulse = std::get_if<api::PulseMessage>(&*message)) {
    pulses_[links_.at(fd).worker] = *pulse;
    return;
  }
  const auto& inner = std::get<api::FromWorker>(*message);
  messages_.push_back(inner);
  const WorkerId worker = links_.at(fd).worker;
  if (std::holds_alternative<api::ReadyMessage>(inner)) {
    ready_.insert(worker);
    welcome_back(worker);
  } else if (const auto* address = std::get_if<api::AddressMessage>(&inner)) {
    collect(*address);
  }
}

void TestLeader::welcome_back(WorkerId worker) {
  if (!audience_.contains(worker)) return;
  send(worker, api::GenerationMessage{
                   .number = generation_, .members = members_, .after_failure = after_failure_, .park = park_});
  if (shares_) send(worker, *shares_);
  if (addresses_.size() != members_.size()) return;
  api::AddressesMessage all{.generation = generation_, .blobs = {}};
  for (const auto& [rank, blob] : addresses_) all.blobs.push_back(blob);
  send(worker, all);
}

void TestLeader::collect(const api::AddressMessage& address) {
  if (address.generation != generation_) return;
  addresses_[address.rank] = address.blob;
  if (addresses_.size() != members_.size()) return;
  api::AddressesMessage all{.generation = generation_, .blobs = {}};
  for (const auto& [rank, blob] : addresses_) all.blobs.push_back(blob);
  for (const WorkerId worker : members_) send(worker, all);
}

void TestLeader::reap() {
  std::vector<WorkerId> gone;
  for (const auto& [worker, pid] : processes_) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) != pid) continue;
    exits_[worker] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    gone.push_back(worker);
  }
  bool member_died = false;
  for (const WorkerId worker : gone) {
    processes_.erase(worker);
    const bool member = std::find(members_.begin(), members_.end(), worker) != members_.end();
    member_died |= member && exits_.at(worker) != 0;
  }
  if (!member_died || !heals_) return;
  std::vector<WorkerId> survivors;
  std::copy_if(members_.begin(), members_.end(), std::back_inserter(survivors),
               [&](WorkerId worker) { return alive(worker); });
  if (!survivors.empty()) commit(survivors, true);
}

void TestLeader::send(WorkerId worker, const api::ToWorker& message) {
  const std::string line = api::encode(message);
  for (const auto& [fd, link] : links_) {
    // Test messages are far below the socket's buffer: one send takes all or the link is gone.
    if (link.worker == worker) static_cast<void>(!::send(fd, line.data(), line.size(), MSG_NOSIGNAL));
  }
}

}  // namespace tidepool::test
