// The gateway's door: what unknown clients and a lack of descriptors do to it.
#include "schedulerd/live/agents/gateway.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sstream>

#include "schedulerd/live/turn_log.hpp"
#include "tests/support/no_descriptors.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPatienceBeats = 50;

Clock::duration long_enough() {
  return std::chrono::seconds(20 * test::patience());
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

struct Door {
  test::TemporaryFolder folder;
  Inbox inbox{100};
  Gateway gateway;

  explicit Door(std::size_t unnamed_max, Duration heartbeat = Duration::seconds(60))
      : gateway({.socket_path = (folder / "agent.sock").string(),
                 .tcp = Endpoint{"127.0.0.1", 0},
                 .token = "secret",
                 .cluster = "c",
                 .heartbeat = heartbeat,
                 .patience = heartbeat * kPatienceBeats,
                 .unnamed_max = unnamed_max},
                inbox) {
    const Status started = gateway.start();
    REQUIRE(started.ok());
  }

  [[nodiscard]] Descriptor knock() const {
    Descriptor link(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder / "agent.sock").string().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::connect(link.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return link;
  }
  // From another address of this machine, over TCP.
  [[nodiscard]] Descriptor knock_from(const char* address) const {
    Descriptor link(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    REQUIRE(::inet_pton(AF_INET, address, &own.sin_addr) == 1);
    REQUIRE(::bind(link.number(), reinterpret_cast<sockaddr*>(&own), sizeof own) == 0);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(gateway.tcp_port());
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(link.number(), reinterpret_cast<sockaddr*>(&there), sizeof there) == 0);
    return link;
  }
  static void send_hello_once(const Descriptor& link) { send_hello_once(link, std::nullopt); }
  static void send_hello_once(const Descriptor& link, std::optional<std::string> instance,
                              std::optional<bool> follows = std::nullopt) {
    const std::string line = api::encode(api::AgentHello{.token = "secret",
                                                         .node = "n",
                                                         .slots = 1,
                                                         .slot_type = "cpu",
                                                         .price_per_slot_hour = "1",
                                                         .running = {},
                                                         .instance = std::move(instance),
                                                         .follows_authorities = follows});
    REQUIRE(::send(link.number(), line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()));
  }
  [[nodiscard]] std::optional<InboxItem> next_item(Clock::duration within = long_enough()) {
    auto items = inbox.take(1, std::chrono::duration_cast<std::chrono::microseconds>(within));
    return items.empty() ? std::nullopt : std::optional(std::move(items.front()));
  }
  // The next thing that an agent has said is its hello.
  [[nodiscard]] bool hears_hello() {
    const auto item = next_item();
    return item && std::holds_alternative<AgentHelloItem>(*item);
  }
};

// What the daemon says until it closes the link.
std::vector<api::DaemonToAgent> said_until_closed(const Descriptor& link) {
  const timeval wait{.tv_sec = 20 * test::patience(), .tv_usec = 0};
  ::setsockopt(link.number(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  api::LineBuffer lines;
  std::vector<api::DaemonToAgent> said;
  char bytes[256];
  std::string line;
  for (ssize_t read = 1; read > 0;) {
    while (lines.next(line)) said.push_back(api::decode_daemon_to_agent(line).value());
    read = ::recv(link.number(), bytes, sizeof bytes, 0);
    if (read > 0) REQUIRE(lines.append({bytes, static_cast<std::size_t>(read)}).ok());
  }
  return said;
}

// Whether the daemon closes the link before the test's patience ends, whatever it says before that.
bool is_closed(const Descriptor& link) {
  const timeval wait{.tv_sec = 20 * test::patience(), .tv_usec = 0};
  ::setsockopt(link.number(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  char bytes[256];
  ssize_t read = 0;
  do read = ::recv(link.number(), bytes, sizeof bytes, 0);
  while (read > 0);
  return read == 0;
}

// Counts the log's lines about connections that could not be taken. The log may only be turned elsewhere while no other
// thread writes to it.
class FailureCount final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // The time from the first to the `count`th of them, if there are so many.
  std::optional<Clock::duration> time_for(int count) {
    std::unique_lock lock(mutex_);
    if (!more_.wait_for(lock, long_enough(), [&] { return failures_ >= count; })) return std::nullopt;
    return last_ - first_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (std::string_view(message.payload.data(), message.payload.size()).find("agent_accept_failed") ==
        std::string_view::npos) {
      return;
    }
    last_ = Clock::now();
    if (failures_++ == 0) first_ = last_;
    more_.notify_all();
  }
  void flush_() override {}

  std::condition_variable more_;
  int failures_ = 0;
  Clock::time_point first_, last_;
};

// Keeps the log's lines of links that were closed; under the same condition.
class ClosedLinks final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> lines;

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string line(message.payload.data(), message.payload.size());
    if (line.find("agent_link_closed") != std::string::npos) lines.push_back(std::move(line));
  }
  void flush_() override {}
};

}  // namespace

TEST_CASE("silent unknown clients do not keep an agent out") {
  Door door(4);
  std::vector<Descriptor> unknown_workers;
  for (int i = 0; i < 4; ++i) unknown_workers.push_back(door.knock());
  const Descriptor agent = door.knock();
  CHECK(is_closed(unknown_workers.front()));  // the one that has said nothing for longest
  Door::send_hello_once(agent);
  CHECK(door.hears_hello());
}

TEST_CASE("an address that opens more and more links loses its own, and not the older one of an agent elsewhere") {
  Door door(4);
  const Descriptor agent = door.knock_from("127.0.0.1");
  std::vector<Descriptor> flood;
  for (int i = 0; i < 9; ++i) flood.push_back(door.knock_from("127.0.0.2"));
  for (std::size_t i = 0; i < 6; ++i) CHECK(is_closed(flood[i]));
  Door::send_hello_once(agent);
  CHECK(door.hears_hello());
}

TEST_CASE("a second agent of a name is refused while the first is there, and the same agent replaces its own link") {
  Door door(4, Duration::seconds(60));
  const auto come_in = [&](const std::string& instance) {
    Descriptor link = door.knock();
    Door::send_hello_once(link, instance);
    return link;
  };
  const auto admit = [&](std::int64_t node) {
    const auto hello = door.next_item();
    REQUIRE(hello);
    std::vector<OutboxItem> admission;
    admission.emplace_back(Admission{.session = std::get<AgentHelloItem>(*hello).session,
                                     .node = NodeId(static_cast<std::uint64_t>(node))});
    door.gateway.post(std::move(admission));
  };
  const Descriptor first = come_in("one");
  admit(1);
  const Descriptor other = come_in("two");
  CHECK(is_closed(other));
  const Descriptor again = come_in("one");
  admit(1);  // the next hello is that of the same agent
  CHECK(is_closed(first));
}

// It comes again and again: each of the lines of its links says by itself whose they are, and why it is not let in.
TEST_CASE("the log names an agent that is refused, and why, each time that it comes") {
  const auto logged = spdlog::default_logger();
  const auto closed = std::make_shared<ClosedLinks>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", closed));
  {
    Door door(4);
    const Descriptor first = door.knock();
    Door::send_hello_once(first, "one");
    CHECK(door.hears_hello());
    for (int i = 0; i < 2; ++i) {
      const Descriptor other = door.knock();
      Door::send_hello_once(other, "two");
      CHECK(is_closed(other));
    }
  }
  spdlog::set_default_logger(logged);
  REQUIRE(closed->lines.size() >= 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(
        closed->lines[i].starts_with("event=agent_link_closed node=\"n\" why=\"refused: another agent, with a state"));
  }
}

TEST_CASE(
    "agents that follow are told the daemon's authorities behind the welcome and when they change, others never") {
  for (const bool follows : {true, false}) {
    Door door(4);
    door.gateway.send_authorities({"sha256:a"});
    const Descriptor agent = door.knock();
    Door::send_hello_once(agent, "one", follows ? std::optional(true) : std::nullopt);
    const auto hello = door.next_item();
    REQUIRE(hello);
    std::vector<OutboxItem> admission;
    admission.emplace_back(Admission{.session = std::get<AgentHelloItem>(*hello).session, .node = NodeId(1)});
    door.gateway.post(std::move(admission));
    door.gateway.send_authorities({"sha256:a", "sha256:b"});
    std::vector<OutboxItem> end;
    end.emplace_back(NodeExpulsion{.node = "n", .why = "enough"});
    door.gateway.post(std::move(end));
    std::vector<std::vector<std::string>> told;
    const auto said = said_until_closed(agent);
    REQUIRE(said.size() >= 2);
    CHECK(std::holds_alternative<api::AgentWelcome>(said.front()));
    CHECK(std::holds_alternative<api::AgentRefuse>(said.back()));
    for (const auto& message : said) {
      if (const auto* one = std::get_if<api::TrustedAuthorities>(&message)) told.push_back(one->fingerprints);
    }
    const std::vector<std::vector<std::string>> expected{{"sha256:a"}, {"sha256:a", "sha256:b"}};
    CHECK(told == (follows ? expected : std::vector<std::vector<std::string>>{}));
  }
}

// The link that fell silent is closed and the node given up in one: not only after as long again without a link.
TEST_CASE("a node that falls silent is lost after the patience, and not after twice as long") {
  const Duration heartbeat = Duration::millis(40);
  Door door(4, heartbeat);
  const Descriptor agent = door.knock();
  Door::send_hello_once(agent);
  const auto hello = door.next_item();
  REQUIRE(hello);
  std::vector<OutboxItem> admission;
  admission.emplace_back(Admission{.session = std::get<AgentHelloItem>(*hello).session, .node = NodeId(1)});
  door.gateway.post(std::move(admission));
  REQUIRE(is_closed(agent));
  const auto lost = door.next_item(std::chrono::microseconds(heartbeat.count_us()) * (kPatienceBeats / 2));
  REQUIRE(lost);
  CHECK(std::get<AgentLostItem>(*lost).node == "n");
}

TEST_CASE("a name that an agent gives itself is one quoted word in the lines of its refusal") {
  const auto logged = spdlog::default_logger();
  std::ostringstream log;
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  const std::string name = "n why=\"its token is good\"\n";
  {
    Door door(4);
    const Descriptor stranger = door.knock();
    const std::string line = api::encode(api::AgentHello{
        .token = "guessed", .node = name, .slots = 1, .slot_type = "cpu", .price_per_slot_hour = "1", .running = {}});
    REQUIRE(::send(stranger.number(), line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()));
    CHECK(is_closed(stranger));
  }
  log_note(leader::AgentRefusedNote{name, "no"});
  log_note(leader::NodeJoinRefusedNote{.name = name, .token_id = "1", .why = "no"});
  spdlog::set_default_logger(logged);
  const std::string quoted = R"( node="n why=\"its token is good\"\n" )";
  CHECK_THAT(log.str(), Catch::Contains("event=agent_refused" + quoted + "why=\"wrong agent token"));
  CHECK_THAT(log.str(), Catch::Contains("event=agent_refused" + quoted + "why=\"no\""));
  CHECK_THAT(log.str(), Catch::Contains("event=node_join_refused" + quoted + "token=1"));
}

TEST_CASE("without a free descriptor the gateway pauses, and takes the agent when there is one") {
  const auto logged = spdlog::default_logger();
  const auto failures = std::make_shared<FailureCount>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", failures));
  std::optional<Clock::duration> took;
  {
    Door door(1);
    const Descriptor first = door.knock();
    const Descriptor second = door.knock();
    spdlog::warn("event=none");
    CHECK(failures->time_for(0));
    test::meet_classes_of_failures();
    REQUIRE(is_closed(first));  // so the loop has turned
    std::optional<Descriptor> agent;
    {
      test::NoDescriptors none;
      none.give_back_one();
      agent.emplace(door.knock());
      took = failures->time_for(4);
    }
    Door::send_hello_once(*agent);
    CHECK(door.hears_hello());
  }
  spdlog::set_default_logger(logged);
  REQUIRE(took.has_value());
  CHECK(*took >= std::chrono::milliseconds(300));  // 100 ms between two
}

}  // namespace tidepool::live
