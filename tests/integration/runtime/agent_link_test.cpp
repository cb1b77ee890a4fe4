// The worker's link against an agent that reads, dies or never was, over a real socket.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cstring>
#include <future>
#include <memory>
#include <string>

#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/runtime/agent_link.hpp"

namespace tidepool::test {
namespace {

constexpr int kPatienceMs = 20'000;

bool readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, kPatienceMs * patience()) == 1;
}

// What an agent is to its workers: a socket that they connect to.
class Listener {
 public:
  explicit Listener(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd_, 8) == 0);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] int accept() const {
    REQUIRE(readable(fd_));
    return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  }

 private:
  int fd_;
};

// Looks at what has come without taking it.
bool holds(int fd, const std::string& word) {
  char bytes[4'096];
  for (int i = 0; i < 1'000 && readable(fd); ++i) {
    const ssize_t seen = ::recv(fd, bytes, sizeof bytes, MSG_PEEK);
    if (seen > 0 && std::string(bytes, static_cast<std::size_t>(seen)).find(word) != std::string::npos) return true;
    ::poll(nullptr, 0, 5);
  }
  return false;
}

// All that comes until the worker closes its side.
std::string read_to_end(int fd) {
  std::string all;
  char bytes[4'096];
  while (readable(fd)) {
    const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) break;
    all.append(bytes, static_cast<std::size_t>(got));
  }
  return all;
}

struct Linked {
  TemporaryFolder folder;
  std::string path = (folder / "agent.sock").string();
  runtime::Membership membership;
  runtime::PulseBoard pulse;
  runtime::NoticeBoard notices;
  std::unique_ptr<runtime::AgentLink> link;

  void connect() {
    link = std::make_unique<runtime::AgentLink>(
        runtime::AgentLinkOptions{
            .socket_path = path, .worker = WorkerId(1), .flush_at_end = runtime::Millis{kPatienceMs * patience()}},
        runtime::AgentLink::Boards{membership, pulse, notices});
  }
  // Its link, on which it has said that training is over.
  int finish(const Listener& agent) {
    connect();
    const int fd = agent.accept();
    link->send(api::FinishedMessage{.last_step = 9, .loss = 1});
    return fd;
  }
  std::future<void> end() {
    return std::async(std::launch::async, [this] { link.reset(); });
  }
};

}  // namespace

TEST_CASE("a last word that an agent has not read before its death is said to the next one") {
  Linked worker;
  const Listener agent(worker.path);
  const int first = worker.finish(agent);
  REQUIRE(holds(first, "finished"));
  auto ended = worker.end();
  ::close(first);
  const int second = agent.accept();
  const std::string said = read_to_end(second);
  CHECK(said.find("finished") != std::string::npos);
  CHECK(said.find("hello") < said.find("finished"));
  ::close(second);
  CHECK(ended.wait_for(std::chrono::milliseconds(kPatienceMs / 2) * patience()) == std::future_status::ready);
}

TEST_CASE("a link ends when the agent has read all, and not before") {
  Linked worker;
  const Listener agent(worker.path);
  const int only = worker.finish(agent);
  auto ended = worker.end();
  CHECK(read_to_end(only).find("finished") != std::string::npos);  // the worker has closed its side, and waits
  CHECK(ended.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  ::close(only);
  CHECK(ended.wait_for(std::chrono::milliseconds(kPatienceMs / 2) * patience()) == std::future_status::ready);
}

TEST_CASE("a link tells each agent how long the training is") {
  Linked worker;
  const Listener agent(worker.path);
  worker.link = std::make_unique<runtime::AgentLink>(
      runtime::AgentLinkOptions{.socket_path = worker.path, .worker = WorkerId(1), .work_steps = 300},
      runtime::AgentLink::Boards{worker.membership, worker.pulse, worker.notices});
  const int first = agent.accept();
  CHECK(holds(first, "\"work_steps\":300"));
  ::close(first);
  const int second = agent.accept();
  CHECK(holds(second, "\"work_steps\":300"));
  ::close(second);
}

TEST_CASE("an answer to a notice that an agent has lost is said to the next one, until it has been heard") {
  Linked worker;
  const Listener agent(worker.path);
  worker.connect();
  const int first = agent.accept();
  const auto tell = [](int fd, std::int64_t answers) {
    const std::string line = api::encode(api::ToWorker(
        api::NoticeMessage{.decision = DecisionId(7), .reason = "Preempted", .in_ms = 60'000, .answers = answers}));
    REQUIRE(::send(fd, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()));
  };
  const auto said_by = [&](std::int64_t answers) {
    const auto told = worker.notices.read();
    return told && told->heard == answers;
  };
  tell(first, 0);
  while (!said_by(0)) std::this_thread::yield();
  const auto now = std::chrono::system_clock::now();
  worker.link->send(*worker.notices.answer(api::NoticeAnswer::kUntil, now + std::chrono::seconds(40), now));
  REQUIRE(holds(first, "notice_answer"));
  ::close(first);
  const int second = agent.accept();
  CHECK(holds(second, "notice_answer"));
  tell(second, 1);
  while (!said_by(1)) std::this_thread::yield();
  CHECK_FALSE(worker.notices.unheard(now));
  ::close(second);
}

TEST_CASE("a link without an agent ends at once if nothing was said") {
  Linked worker;
  worker.connect();
  CHECK(worker.end().wait_for(std::chrono::milliseconds(kPatienceMs / 2) * patience()) == std::future_status::ready);
}

}  // namespace tidepool::test
