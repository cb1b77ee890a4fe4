#include "workers/runtime/comm/guarded_context.hpp"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/pair.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <mutex>
#include <utility>

namespace tidepool::runtime {
namespace {

namespace tcp = gloo::transport::tcp;

using Warn = GuardedContext::Warn;

// Connections that have not shown their key yet; above that the oldest is closed.
constexpr std::size_t kArrivalsMax = 16;
constexpr int kListenTries = 4;

std::string fresh_key() {
  std::string key(api::kEntryKeyBytes, '\0');
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    throw gloo::IoException("the kernel gives no random bytes");
  }
  return key;
}

bool equal_in_constant_time(const std::string& a, const std::string& b) {
  unsigned char differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    differs |= static_cast<unsigned char>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return differs == 0;
}

// The layout of Debian's library: with another layout this class's members would overlap Gloo's.
#if defined(__x86_64__)
static_assert(sizeof(tcp::Pair) == 896);
#endif

class GuardedPair;

// A connection to a listening socket of this worker that has not shown its key yet. Used on the device's thread.
class Arrival final : public tcp::Handler {
 public:
  Arrival(GuardedPair& pair, int fd, std::string from) : pair_(pair), fd_(fd), from_(std::move(from)) {}
  void handleEvents(int events) override;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const std::string& from() const { return from_; }
  // Returns whether the connection may continue, given the bytes received so far.
  [[nodiscard]] bool read();
  [[nodiscard]] bool complete() const { return shown_.size() == api::kEntryKeyBytes; }
  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  GuardedPair& pair_;
  const int fd_;
  const std::string from_;
  std::string shown_;
};

// A separate base class, so that it exists before Gloo's constructor listens.
struct Guard {
  Warn warn;
  std::string key_here = fresh_key();  // that the peer presents to this worker
  std::string key_there;               // that this worker presents to the peer
  bool key_shown = false;
  std::vector<std::unique_ptr<Arrival>> arrivals;
};

class GuardedPair final : private Guard, public tcp::Pair {
 public:
  GuardedPair(tcp::Context* context, tcp::Device* device, int peer, Guard guard)
      : Guard(std::move(guard)), tcp::Pair(context, device, peer, context->getTimeout()) {}
  GuardedPair(const GuardedPair&) = delete;
  GuardedPair& operator=(const GuardedPair&) = delete;
  ~GuardedPair() override;

  // False: a connection arrived while Gloo's constructor ran, before the guard was active.
  [[nodiscard]] bool is_guarded() {
    const std::lock_guard lock(m_);
    return state_ == LISTENING;
  }
  [[nodiscard]] const std::string& listening_key() const { return key_here; }
  void show_to_peer(std::string key) {
    const std::lock_guard lock(m_);
    key_there = std::move(key);
  }

  void handleEvents(int events) override;
  void look_at(Arrival& arrival);

 private:
  void handle_as_gloo(int events);
  void take_arrivals();
  void let_in(int connection);
  void show_key();
  void send_away_arrivals();
  void drop(const Arrival& arrival);
};

void Arrival::handleEvents(int) {
  pair_.look_at(*this);
}

bool Arrival::read() {
  std::array<char, api::kEntryKeyBytes> bytes{};
  // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): MSG_DONTWAIT
  const ssize_t got = ::recv(fd_, bytes.data(), api::kEntryKeyBytes - shown_.size(), MSG_DONTWAIT);
  if (got > 0) shown_.append(bytes.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

GuardedPair::~GuardedPair() {
  std::vector<std::unique_ptr<Arrival>> left;
  {
    const std::lock_guard lock(m_);
    if (state_ != CLOSED) tcp::Pair::changeState(CLOSED);  // accepts no further connections
    left.swap(arrivals);
  }
  // Waits until the device's thread is not in any of their handlers.
  for (const auto& arrival : left) {
    device_->unregisterDescriptor(arrival->fd(), arrival.get());
    ::close(arrival->fd());
  }
}

// Runs on the device's thread; Gloo calls it.
void GuardedPair::handleEvents(int events) {
  {
    // As in Gloo: the thread that holds the lock may wait for this one.
    const std::unique_lock lock(m_, std::try_to_lock);
    if (!lock) return;
    if (state_ == LISTENING) return take_arrivals();
    if (state_ == CONNECTING && !key_shown) show_key();
  }
  handle_as_gloo(events);
}

// Gloo reads a new connection's peer name and throws if the peer has already disconnected; nothing on its thread
// catches that.
void GuardedPair::handle_as_gloo(int events) {
  try {
    tcp::Pair::handleEvents(events);
  } catch (const std::exception& failure) {
    const std::unique_lock lock(m_, std::try_to_lock);
    if (lock && state_ != CLOSED) signalException(failure.what());  // else the event is repeated
  }
}

void GuardedPair::take_arrivals() {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  // Take the address here: it cannot be queried from a connection that has closed since.
  const int connection = ::accept4(fd_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) return;  // already disconnected, or no free descriptor: the next connection is another event
  if (arrivals.size() >= kArrivalsMax) ::shutdown(arrivals.front()->fd(), SHUT_RDWR);
  arrivals.push_back(std::make_unique<Arrival>(*this, connection, tcp::Address(from).str()));
  device_->registerDescriptor(connection, EPOLLIN, arrivals.back().get());
}

void GuardedPair::look_at(Arrival& arrival) {
  const std::unique_lock lock(m_, std::try_to_lock);
  if (!lock) return;
  const bool goes_on = arrival.read();
  if (goes_on && !arrival.complete()) return;
  if (goes_on && state_ == LISTENING && equal_in_constant_time(arrival.shown(), key_here)) {
    const int connection = ::dup(arrival.fd());
    drop(arrival);
    return let_in(connection);
  }
  // A connection that arrives after the peer is closed without a log line.
  if (state_ == LISTENING) {
    warn("a connection from " + arrival.from() + " is closed: it did not show the key of rank " +
         std::to_string(rank_) + ", for which this worker waits, so it is no member of the generation");
  }
  drop(arrival);
}

// Does what Gloo does with the first connection that arrives.
void GuardedPair::let_in(int connection) {
  device_->unregisterDescriptor(fd_, this);
  ::close(fd_);
  fd_ = connection;
  if (fd_ < 0) return signalException("no descriptor is free for the connection of a member");
  try {
    handleConnected();
  } catch (const std::exception& failure) {
    device_->registerDescriptor(fd_, EPOLLIN, this);  // Gloo expects this for sockets that it closes
    signalException(failure.what());
  }
  send_away_arrivals();
}

// The shutdown makes each connection remove itself: only a handler's own event may delete it.
void GuardedPair::send_away_arrivals() {
  for (const auto& each : arrivals) ::shutdown(each->fd(), SHUT_RDWR);
}

// Sent before everything that Gloo writes: a new connection accepts these few bytes at once. If the connection failed,
// it accepts none, and Gloo detects the failure itself.
void GuardedPair::show_key() {
  const auto size = static_cast<ssize_t>(key_there.size());
  key_shown = ::send(fd_, key_there.data(), key_there.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == size;
  send_away_arrivals();
}

void GuardedPair::drop(const Arrival& arrival) {
  const auto found =
      std::find_if(arrivals.begin(), arrivals.end(), [&](const auto& each) { return each.get() == &arrival; });
  if (found == arrivals.end()) return;  // the pair is ending and closes the connection
  device_->unregisterDescriptor(arrival.fd(), found->get());
  ::close(arrival.fd());
  arrivals.erase(found);
}

GuardedPair& guarded(gloo::transport::Pair& pair) {
  return static_cast<GuardedPair&>(pair);
}

}  // namespace

GuardedContext::GuardedContext(std::shared_ptr<tcp::Device> device, int rank_here, int size_here, Warn warn)
    : tcp::Context(std::move(device), rank_here, size_here), warn_(std::move(warn)) {}

std::unique_ptr<gloo::transport::Pair>& GuardedContext::createPair(int peer) {
  auto& place = pairs_.at(static_cast<std::size_t>(peer));
  for (int tried = 0; tried < kListenTries; ++tried) {
    auto pair = std::make_unique<GuardedPair>(this, device_.get(), peer, Guard{.warn = warn_});
    if (!pair->is_guarded()) continue;
    place = std::move(pair);
    return place;
  }
  throw gloo::IoException("unknown connections come to each port as soon as it listens");
}

GuardedContext::Entry GuardedContext::entry_for(int peer) const {
  auto& pair = guarded(*pairs_.at(static_cast<std::size_t>(peer)));
  const auto bytes = pair.address().bytes();
  const tcp::Address address(bytes);
  const auto& socket = address.getSockaddr();
  const auto port = socket.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(socket).sin6_port
                                                 : reinterpret_cast<const sockaddr_in&>(socket).sin_port;
  return {.port = ntohs(port), .key = pair.listening_key()};
}

void GuardedContext::set_key_of(int peer, std::string key) {
  guarded(*pairs_.at(static_cast<std::size_t>(peer))).show_to_peer(std::move(key));
}

}  // namespace tidepool::runtime
