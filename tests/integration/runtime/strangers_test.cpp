// Connections of processes that are no members, to the ports on which ranks wait for each other.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/runtime/meshes.hpp"

namespace tidepool::runtime {
namespace {

class Stranger {
 public:
  explicit Stranger(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  Stranger(Stranger&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Stranger() {
    if (fd_ >= 0) ::close(fd_);
  }

  void say(const std::string& bytes) const {
    REQUIRE(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  // Closes with a reset, without a word.
  void hang_up() && {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    ::close(std::exchange(fd_, -1));
  }
  // Whether the other side closes within the time.
  [[nodiscard]] bool is_closed_within(int milliseconds) const {
    pollfd wait{.fd = fd_, .events = POLLIN, .revents = 0};
    char byte = 0;
    return ::poll(&wait, 1, milliseconds) == 1 && ::recv(fd_, &byte, 1, MSG_DONTWAIT) <= 0;
  }

 private:
  int fd_;
};

std::uint16_t port_for(const GlooComm& comm, std::size_t peer) {
  return comm.address().entries[peer].port;
}

void check_sum(const std::vector<std::shared_ptr<GlooComm>>& ranks) {
  std::vector<std::vector<float>> values(ranks.size(), std::vector<float>(1'000, 1.0F));
  on_all(ranks, [&](GlooComm& comm) {
    static_cast<void>(comm.allreduce(values[static_cast<std::size_t>(comm.rank())]).ok());
    comm.settle();
  });
  for (const auto& each : values) CHECK(each == std::vector<float>(1'000, static_cast<float>(ranks.size())));
}

// What Gloo would take for a message to a buffer that there is not, and end the process.
std::string message_of_gloo() {
  return std::string("\x30\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0", 16) + std::string(32, '\x07');
}

}  // namespace

TEST_CASE("a stranger's message is not read as Gloo's: it is sent away and the members meet") {
  const auto ranks = open_all(3);
  std::vector<Stranger> strangers;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t peer = 0; peer < 3; ++peer) {
      if (peer == rank) continue;
      strangers.emplace_back(port_for(*ranks[rank], peer)).say(message_of_gloo());
    }
  }
  for (const Stranger& stranger : strangers) CHECK(stranger.is_closed_within(10'000));
  connect_all(ranks);
  check_sum(ranks);
}

TEST_CASE("the log says from where a stranger came and in which rank's place") {
  std::mutex mutex;
  std::string told;
  const auto warn = [&](const std::string& sentence) {
    const std::lock_guard lock(mutex);
    told += sentence;
  };
  const auto comm = GlooComm::open({.rank = 0, .size = 3, .warn = warn});
  REQUIRE(comm.ok());
  const Stranger stranger(port_for(**comm, 2));
  stranger.say(message_of_gloo());
  CHECK(stranger.is_closed_within(10'000));
  const std::lock_guard lock(mutex);
  CHECK_THAT(told, Catch::Contains("a connection from ") && Catch::Contains("127.0.0.1") &&
                       Catch::Contains("did not show the key of rank 2"));
}

TEST_CASE("strangers that say nothing do not take a member's place, however many they are") {
  const auto ranks = open_all(2);
  std::vector<Stranger> strangers;
  for (int each = 0; each < 40; ++each) {
    strangers.emplace_back(port_for(*ranks[0], 1));
    strangers.emplace_back(port_for(*ranks[1], 0));
  }
  connect_all(ranks);
  check_sum(ranks);
  for (const Stranger& stranger : strangers) CHECK(stranger.is_closed_within(10'000));
}

TEST_CASE("connections that are reset before they are taken hurt no member") {
  const auto ranks = open_all(2);
  for (int each = 0; each < 20; ++each) {  // a port holds two at a time, and others try again in a second
    Stranger(port_for(*ranks[0], 1)).hang_up();
    Stranger(port_for(*ranks[1], 0)).hang_up();
  }
  connect_all(ranks);
  check_sum(ranks);
}

TEST_CASE("a member that is gone as soon as it came ends the mesh, and no process") {
  int failed = 0;
  for (int round = 0; round < 50; ++round) {
    auto ranks = open_all(2);
    Stranger peer(port_for(*ranks[0], 1));
    peer.say(ranks[0]->address().entries[1].key);
    std::move(peer).hang_up();
    // Which of two ranks waits for the other follows from their ports.
    failed += ranks[0]->connect({ranks[0]->address(), ranks[1]->address()}).ok() ? 0 : 1;
  }
  CHECK(failed > 0);
}

TEST_CASE("the key of one port opens no other") {
  const auto ranks = open_all(3);
  const Stranger stranger(port_for(*ranks[0], 1));
  stranger.say(ranks[0]->address().entries[2].key);
  CHECK(stranger.is_closed_within(10'000));
  connect_all(ranks);
  check_sum(ranks);
}

TEST_CASE("a mesh that goes away while strangers wait at its ports leaves nothing behind") {
  for (int round = 0; round < 20; ++round) {
    auto ranks = open_all(2);
    const Stranger silent(port_for(*ranks[0], 1));
    const Stranger loud(port_for(*ranks[1], 0));
    loud.say("GET / HTTP/1.0\r\n");
    ranks.clear();
    CHECK(silent.is_closed_within(10'000));
    CHECK(loud.is_closed_within(10'000));
  }
}

}  // namespace tidepool::runtime
