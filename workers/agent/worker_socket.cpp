#include "workers/agent/worker_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using LocalSocket = asio::local::stream_protocol::socket;

constexpr std::size_t kUnreadMax = 16U << 20U;
constexpr std::size_t kWaitingMax = 256;         // messages for one worker that is not connected
constexpr std::size_t kUnknownLinksMax = 1'024;  // connections without a hello
constexpr int kUnknownLinksOfUserMax = 256;      // so that one job cannot keep the others out
constexpr int kLeavingMax = 4;                   // links of one worker that it has replaced and not closed
constexpr auto kDrainPatience = std::chrono::seconds(2);

std::optional<uid_t> user_of_peer(LocalSocket& socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer.uid;
}

std::string user_text(uid_t user) {
  return "user " + std::to_string(user);
}

}  // namespace

struct WorkerSocket::Drain {
  Drain(asio::io_context& io, std::function<void()> callback) : timer(io), done(std::move(callback)) {}
  asio::steady_timer timer;
  std::function<void()> done;
};

WorkerSocket::WorkerSocket(asio::io_context& io, Handlers handlers, std::chrono::steady_clock::duration hello_patience)
    : io_(io),
      handlers_(std::move(handlers)),
      acceptor_(io),
      arriving_(acceptor_, {.on_link = [this](LocalSocket socket) { admit(std::move(socket)); },
                            .on_failure =
                                [this](const error_code& failed) {
                                  handlers_.on_trouble("the socket",
                                                       "cannot accept a worker's link: " + failed.message());
                                }}),
      hello_patience_(hello_patience) {}

Status WorkerSocket::listen(const std::filesystem::path& path) {
  constexpr std::size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;
  if (path.string().size() > kPathMax) {
    return invalid_argument("the path " + path.string() + " is longer than the " + std::to_string(kPathMax) +
                            " bytes a socket may have; choose a shorter --state-dir");
  }
  ::unlink(path.c_str());  // of an earlier agent, which no longer runs, as the lock shows
  error_code error;
  acceptor_.open(asio::local::stream_protocol(), error);
  if (!error) acceptor_.bind(asio::local::stream_protocol::endpoint(path.string()), error);
  // Jobs with users of their own see the socket, and only it, in a folder that is closed to everyone else.
  const mode_t mode = ::geteuid() == 0 ? 0666 : 0600;
  if (!error && ::chmod(path.c_str(), mode) != 0) return errno_error("protect " + path.string());
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (error) return io_error("cannot listen on " + path.string() + ": " + error.message());
  arriving_.start();
  return ok_status();
}

Status WorkerSocket::listen_in(const std::filesystem::path& state_dir) {
  namespace fs = std::filesystem;
  TP_TRY(make_private_folder(state_dir / "sock"));
  std::error_code error;
  if (::geteuid() == 0) fs::permissions(state_dir / "sock", fs::perms(0711), error);
  const fs::path known = state_dir / "w.sock";
  fs::remove(known, error);
  fs::create_symlink("sock/w.sock", known, error);
  if (error) return io_error("cannot make " + known.string() + ": " + error.message());
  return listen(state_dir / "sock" / "w.sock");
}

void WorkerSocket::accept_waiting() {
  for (;;) {
    LocalSocket socket(io_);
    error_code error;
    acceptor_.accept(socket, error);
    if (error) return;
    admit(std::move(socket));
  }
}

void WorkerSocket::admit(LocalSocket socket) {
  const auto user = user_of_peer(socket);
  if (!user)
    return handlers_.on_trouble("the socket",
                                "the kernel does not tell of which user a connection is; it was sent away");
  const auto same = std::count_if(unknown_links_.begin(), unknown_links_.end(),
                                  [&](const auto& link) { return link.second.user == *user; });
  if (unknown_links_.size() >= kUnknownLinksMax || (*user != ::geteuid() && same >= kUnknownLinksOfUserMax)) {
    handlers_.on_trouble(user_text(*user), "too many connections without a hello; one was sent away");
    return;
  }
  auto stream = std::make_shared<LineStream>(LineStream::Stream(LineStream::Socket(std::move(socket))), kUnreadMax,
                                             api::kWorkerLineBytesMax);
  expect_hello(stream, *user);
  // Weak, because the stream owns these handlers.
  const std::weak_ptr<LineStream> weak = stream;
  stream->start({.on_line =
                     [this, weak](const std::string& line) {
                       const auto self = weak.lock();
                       if (unknown_links_.contains(self)) {
                         greet(self, line);
                       } else {
                         on_message(self, line);
                       }
                     },
                 .on_closed =
                     [this, weak](const std::string&) {
                       if (const auto self = weak.lock()) lost(self);
                     }});
}

// A silent connection uses a descriptor, and makes each ended worker wait for kDrainPatience.
void WorkerSocket::expect_hello(const Stream& stream, uid_t user) {
  auto& unknown =
      unknown_links_.try_emplace(stream, Unknown{user, asio::steady_timer(io_, hello_patience_)}).first->second;
  unknown.deadline.async_wait([this, user, weak = std::weak_ptr<LineStream>(stream)](const error_code& ended) {
    const auto self = weak.lock();
    // A connection whose hello was read as the time ran out is known.
    if (ended || !unknown_links_.contains(self)) return;
    const std::string trouble = "a connection said no hello in time";
    handlers_.on_trouble(user_text(user), trouble + "; it was closed");
    self->close(trouble);
  });
}

void WorkerSocket::greet(const Stream& stream, const std::string& line) {
  const auto message = api::decode_worker_to_agent(line);
  const auto* hello = message ? std::get_if<api::WorkerHello>(&*message) : nullptr;
  std::string trouble;
  if (!message) {
    trouble = message.error().message;
  } else if (hello == nullptr) {
    trouble = "a worker must say hello first";
  } else if (hello->protocol != api::kWorkerProtocol) {
    trouble = "a worker speaks protocol " + std::to_string(hello->protocol) + "; this agent speaks " +
              std::to_string(api::kWorkerProtocol);
  } else if (const auto user = handlers_.user_of(hello->worker); !user) {
    trouble = hello->worker.text() + " does not live on this node";
  } else if (*user != unknown_links_.at(stream).user) {
    trouble = "a process of " + user_text(unknown_links_.at(stream).user) + " said that it is " + hello->worker.text() +
              ", which is another user's; it was sent away";
  }
  if (!trouble.empty()) {
    handlers_.on_trouble(user_text(unknown_links_.at(stream).user), trouble);
    stream->close(trouble);
    return;
  }
  unknown_links_.erase(stream);
  retire(hello->worker);
  links_[hello->worker] = stream;
  if (hello->hears_notices.value_or(false)) {
    hearing_.insert(hello->worker);
  } else {
    hearing_.erase(hello->worker);
  }
  for (auto& text : std::exchange(waiting_[hello->worker], {})) stream->send(std::move(text));
  waiting_.erase(hello->worker);
}

WorkerId WorkerSocket::speaker(const Stream& stream) const {
  if (const auto left = leaving_.find(stream); left != leaving_.end()) return left->second;
  for (const auto& [worker, link] : links_) {
    if (link == stream) return worker;
  }
  return {};
}

void WorkerSocket::on_message(const Stream& stream, const std::string& line) {
  const WorkerId worker = speaker(stream);
  auto message = api::decode_worker_to_agent(line);
  if (const auto* pulse = message ? std::get_if<api::PulseMessage>(&*message) : nullptr) {
    // A worker whose link the agent closes reconnects; what it sent before is outdated.
    if (!leaving_.contains(stream)) handlers_.on_pulse(worker, *pulse);
    return;
  }
  auto* said = message ? std::get_if<api::FromWorker>(&*message) : nullptr;
  if (said != nullptr) {
    handlers_.on_message(worker, std::move(*said));
    return;
  }
  const std::string trouble = message ? "a second hello" : message.error().message;
  handlers_.on_trouble(worker.text(), worker.text() + ": " + trouble);
  stream->close(trouble);
}

void WorkerSocket::retire(WorkerId worker) {
  auto link = links_.extract(worker);
  if (link.empty()) return;
  const auto of_worker = [&](const auto& entry) { return entry.second == worker; };
  if (std::ranges::count_if(leaving_, of_worker) >= kLeavingMax) {
    // The peer does not close the old links: a job must not use up the agent's descriptors.
    const Stream replaced = std::ranges::find_if(leaving_, of_worker)->first;
    replaced->close("the worker has connected again and again");
    leaving_.erase(replaced);
  }
  leaving_[link.mapped()] = worker;
  link.mapped()->finish_sending();
}

void WorkerSocket::lost(const Stream& stream) {
  unknown_links_.erase(stream);
  const WorkerId worker = speaker(stream);
  const bool by_worker = leaving_.erase(stream) == 0 && links_.erase(worker) > 0;
  look_at_drains();
  if (by_worker) handlers_.on_hung_up(worker);
}

void WorkerSocket::send(WorkerId worker, const api::ToWorker& message) {
  // A library of an older version closes its link at an unknown message. The daemon sends the notice again to a worker
  // that connects later.
  const bool tells_notice = std::holds_alternative<api::NoticeMessage>(message);
  if (tells_notice && !(links_.contains(worker) && hearing_.contains(worker))) return;
  std::string line = api::encode(message);
  if (const auto link = links_.find(worker); link != links_.end()) {
    link->second->send(std::move(line));
    return;
  }
  auto& queue = waiting_[worker];
  // The newest generation is the one that counts, so the oldest message is dropped first.
  if (queue.size() >= kWaitingMax) queue.pop_front();
  queue.push_back(std::move(line));
}

void WorkerSocket::close_links() {
  // From now on messages for these workers wait until the workers reconnect.
  while (!links_.empty()) retire(links_.begin()->first);
}

void WorkerSocket::when_drained(WorkerId worker, std::function<void()> done) {
  auto drain = std::make_shared<Drain>(io_, std::move(done));
  drains_[worker] = drain;
  drain->timer.expires_after(kDrainPatience);
  drain->timer.async_wait([this, worker, drain](error_code) {
    if (drains_.erase(worker) > 0) drain->done();
  });
  // Its hello may still wait in the listener's queue.
  accept_waiting();
  look_at_drains();
}

bool WorkerSocket::connected(WorkerId worker) const {
  const auto of_worker = [&](const auto& entry) { return entry.second == worker; };
  return links_.contains(worker) || std::any_of(leaving_.begin(), leaving_.end(), of_worker);
}

void WorkerSocket::look_at_drains() {
  for (auto& [worker, drain] : drains_) {
    // An unidentified link may be this worker's, with its hello not read yet.
    if (!connected(worker) && unknown_links_.empty()) drain->timer.cancel();
  }
}

void WorkerSocket::forget(WorkerId worker) {
  waiting_.erase(worker);
  hearing_.erase(worker);
}

}  // namespace tidepool::agent
