#include "tests/support/fake_nccl/star.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tidepool::fake {
namespace {

constexpr int kLookAroundMs = 5;  // how long a wait may go without looking at `stop`

struct Address {
  sockaddr_un socket{};
  socklen_t length = 0;
};

Address abstract_address(const std::string& name) {
  Address address;
  address.socket.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.socket.sun_path + 1);  // a zero first: no file
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

}  // namespace

Star::~Star() {
  for (const int fd : fds_) {
    if (fd >= 0) ::close(fd);
  }
}

int Star::listen_at(const std::string& name) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const Address address = abstract_address(name);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address.socket);
  if (::bind(fd, generic, address.length) == 0 && ::listen(fd, 64) == 0) return fd;
  ::close(fd);
  return -1;
}

Outcome Star::gather_all(int listener, int size) {
  fds_.assign(static_cast<std::size_t>(size), -1);
  for (int waiting = size - 1; waiting > 0; --waiting) {
    if (wait(listener, POLLIN) != Outcome::kDone) return Outcome::kStopped;
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int rank = 0;
    const Outcome outcome = read_all(fd, reinterpret_cast<std::byte*>(&rank), sizeof rank);
    if (outcome != Outcome::kDone) {
      ::close(fd);
      return outcome;
    }
    fds_[static_cast<std::size_t>(rank)] = fd;
  }
  std::vector<std::byte> all;
  return exchange(nullptr, 0, all);
}

Outcome Star::reach(const std::string& name, int rank) {
  rank_ = rank;
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  fds_ = {fd};
  const Address address = abstract_address(name);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.socket), address.length) != 0) return Outcome::kPeerGone;
  const Outcome outcome = send_all(fd, reinterpret_cast<const std::byte*>(&rank), sizeof rank);
  if (outcome != Outcome::kDone) return outcome;
  std::vector<std::byte> all;
  return exchange(nullptr, 0, all);
}

// A length of zero is still an exchange: one byte says that a rank has come.
Outcome Star::exchange(const std::byte* mine, std::size_t bytes, std::vector<std::byte>& all) {
  const std::byte here{1};
  const auto try_send = [&](int fd, const std::byte* at, std::size_t length) {
    const Outcome outcome = send_all(fd, &here, 1);
    return outcome == Outcome::kDone ? send_all(fd, at, length) : outcome;
  };
  const auto try_read = [&](int fd, std::byte* at, std::size_t length) {
    std::byte come{};
    const Outcome outcome = read_all(fd, &come, 1);
    return outcome == Outcome::kDone ? read_all(fd, at, length) : outcome;
  };
  if (rank_ != 0) {
    std::size_t total = 0;
    Outcome outcome = try_send(fds_[0], mine, bytes);
    if (outcome == Outcome::kDone) {
      outcome = try_read(fds_[0], reinterpret_cast<std::byte*>(&total), sizeof total);
    }
    if (outcome != Outcome::kDone) return outcome;
    all.resize(total);
    return read_all(fds_[0], all.data(), total);
  }
  all.resize(bytes * fds_.size());
  if (bytes > 0) std::memcpy(all.data(), mine, bytes);
  for (std::size_t rank = 1; rank < fds_.size(); ++rank) {
    const Outcome outcome = try_read(fds_[rank], all.data() + rank * bytes, bytes);
    if (outcome != Outcome::kDone) return outcome;
  }
  const std::size_t total = all.size();
  for (std::size_t rank = 1; rank < fds_.size(); ++rank) {
    Outcome outcome = try_send(fds_[rank], reinterpret_cast<const std::byte*>(&total), sizeof total);
    if (outcome == Outcome::kDone) outcome = send_all(fds_[rank], all.data(), total);
    if (outcome != Outcome::kDone) return outcome;
  }
  return Outcome::kDone;
}

Outcome Star::wait(int fd, short events) {
  while (!stop_) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    if (::poll(&entry, 1, kLookAroundMs) > 0) return Outcome::kDone;
  }
  return Outcome::kStopped;
}

Outcome Star::send_all(int fd, const std::byte* bytes, std::size_t length) {
  while (length > 0) {
    if (wait(fd, POLLOUT) != Outcome::kDone) return Outcome::kStopped;
    const ssize_t sent = ::send(fd, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent <= 0) return Outcome::kPeerGone;
    bytes += sent;
    length -= static_cast<std::size_t>(sent);
  }
  return Outcome::kDone;
}

Outcome Star::read_all(int fd, std::byte* bytes, std::size_t length) {
  while (length > 0) {
    if (wait(fd, POLLIN) != Outcome::kDone) return Outcome::kStopped;
    const ssize_t got = ::recv(fd, bytes, length, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return Outcome::kPeerGone;
    bytes += got;
    length -= static_cast<std::size_t>(got);
  }
  return Outcome::kDone;
}

}  // namespace tidepool::fake
