#include "workers/runtime/agent_link.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/overloaded.hpp"
#include "workers/runtime/log.hpp"

namespace tidepool::runtime {
namespace {}  // namespace

AgentLink::AgentLink(AgentLinkOptions options, Boards boards)
    : options_(std::move(options)),
      membership_(boards.membership),
      pulse_(boards.pulse),
      notices_(boards.notices),
      wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      thread_([this] { run(); }) {}

AgentLink::~AgentLink() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake();
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.flush_at_end, [this] { return is_over(); });
    stopping_ = true;
  }
  wake();
  thread_.join();
  ::close(wake_fd_);
}

void AgentLink::send(const api::FromWorker& message) {
  {
    const std::lock_guard lock(mutex_);
    const bool steps = std::holds_alternative<api::StepsMessage>(message);
    queue_.push_back({api::encode(api::WorkerToAgent{message}), steps ? Kind::kSteps : Kind::kOther});
    if (queue_.size() > options_.queue_max) drop_oldest_steps();
    if (const auto* audit = std::get_if<api::EpochAuditedMessage>(&message)) {
      audits_.push_back(*audit);
      if (audits_.size() > kAuditsRepeated) audits_.pop_front();
    } else if (const auto* finished = std::get_if<api::FinishedMessage>(&message)) {
      finished_ = *finished;
    }
  }
  wake();
}

void AgentLink::send_address(api::AddressMessage message) {
  {
    const std::lock_guard lock(mutex_);
    address_ = message;
  }
  send(message);
}

void AgentLink::set_generation(GenerationNumber generation) {
  const std::lock_guard lock(mutex_);
  generation_ = generation;
}

void AgentLink::drop_oldest_steps() {
  // The first line may be half written, and a greeting belongs to the connection: keep both.
  const auto first = queue_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(greeting_, 1));
  const auto oldest = std::find_if(first, queue_.end(), [](const Outgoing& out) { return out.kind == Kind::kSteps; });
  if (oldest != queue_.end()) queue_.erase(oldest);
}

void AgentLink::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_fd_, &one, sizeof one));
}

void AgentLink::run() {
  Millis backoff = options_.backoff_first;
  while (pause(Millis{0})) {
    const int fd = connect_once();
    if (fd >= 0) {
      backoff = options_.backoff_first;
      serve(fd);
      ::close(fd);
      if (!reconnects()) return;
    }
    if (!pause(backoff)) return;
    backoff = std::min(backoff * 2, options_.backoff_max);
  }
}

// Waits; returns false if the link is stopping.
bool AgentLink::pause(Millis backoff) {
  const TimePoint until = Clock::now() + backoff;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
    }
    const auto left = std::chrono::duration_cast<Millis>(until - Clock::now());
    if (left.count() <= 0) return true;
    pollfd waiting{wake_fd_, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left.count())) > 0) {
      std::uint64_t count = 0;
      static_cast<void>(!::read(wake_fd_, &count, sizeof count));
    }
  }
}

int AgentLink::connect_once() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (options_.socket_path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, options_.socket_path.c_str(), options_.socket_path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

void AgentLink::queue_greeting() {
  const std::lock_guard lock(mutex_);
  written_ = 0;  // an interrupted line is sent again from its start
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(greeting_));
  std::vector<Outgoing> greeting;
  const auto add = [&](const api::WorkerToAgent& message) { greeting.push_back({api::encode(message)}); };
  add(api::WorkerHello{.worker = options_.worker,
                       .pid = ::getpid(),
                       .hears_notices = options_.hears_notices ? std::optional(true) : std::nullopt});
  add(api::FromWorker{api::ReadyMessage{
      .generation = generation_, .work_steps = options_.work_steps, .work_samples = options_.work_samples}});
  const auto repeat = [&](const api::FromWorker& message) {
    add(message);
    std::erase_if(queue_, [&](const Outgoing& out) { return out.line == greeting.back().line; });
  };
  if (address_ && !membership_.has_addresses(address_->generation)) repeat(*address_);
  for (const auto& audit : audits_) repeat(audit);
  if (finished_) repeat(*finished_);
  if (const auto answer = notices_.unheard(std::chrono::system_clock::now())) repeat(*answer);
  greeting_ = greeting.size();
  queue_.insert(queue_.begin(), greeting.begin(), greeting.end());
  connected_ = true;
  unread_ = false;
}

// Called after a connection has ended.
bool AgentLink::reconnects() {
  const std::lock_guard lock(mutex_);
  connected_ = false;
  changed_.notify_all();
  return !is_over();
}

bool AgentLink::has_said_all() {
  const std::lock_guard lock(mutex_);
  return ending_ && queue_.empty();
}

// Talks on one connection until it breaks or the link stops.
void AgentLink::serve(int fd) {
  queue_greeting();
  api::LineBuffer lines;
  next_pulse_ = Clock::now();
  bool half_closed = false;
  for (;;) {
    if (!half_closed) queue_pulse();
    if (!half_closed && has_said_all()) half_closed = ::shutdown(fd, SHUT_WR) == 0;
    bool has_output = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      has_output = !queue_.empty() && !half_closed;
    }
    pollfd polled[2] = {{fd, static_cast<short>(has_output ? POLLIN | POLLOUT : POLLIN), 0}, {wake_fd_, POLLIN, 0}};
    const auto until_pulse = std::chrono::ceil<Millis>(next_pulse_ - Clock::now()).count();
    const int timeout_ms = half_closed ? -1 : static_cast<int>(std::max<std::int64_t>(until_pulse, 0));
    if (::poll(polled, 2, timeout_ms) < 0 && errno != EINTR) return;
    std::uint64_t count = 0;
    static_cast<void>(!::read(wake_fd_, &count, sizeof count));
    if ((polled[0].revents & POLLOUT) != 0 && !write_some(fd)) return;
    if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !read_some(fd, lines)) return;
  }
}

// At most one pulse waits in the queue: an agent that does not read would otherwise get thousands.
void AgentLink::queue_pulse() {
  constexpr Millis kInterval{1'000};
  if (Clock::now() < next_pulse_) return;
  const api::PulseMessage pulse = pulse_.read();
  next_pulse_ = Clock::now() + std::clamp(Millis{pulse.stuck_after_ms / 4}, Millis{10}, kInterval);
  const std::lock_guard lock(mutex_);
  const bool waits =
      std::any_of(queue_.begin(), queue_.end(), [](const Outgoing& out) { return out.kind == Kind::kPulse; });
  if (!waits) queue_.push_back({api::encode(api::WorkerToAgent{pulse}), Kind::kPulse});
}

bool AgentLink::write_some(int fd) {
  const std::lock_guard lock(mutex_);
  while (!queue_.empty()) {
    const std::string& line = queue_.front().line;
    const ssize_t sent = ::send(fd, line.data() + written_, line.size() - written_, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    written_ += static_cast<std::size_t>(sent);
    if (written_ < line.size()) continue;
    queue_.pop_front();
    written_ = 0;
    if (greeting_ > 0) --greeting_;
  }
  return true;
}

bool AgentLink::read_some(int fd, api::LineBuffer& lines) {
  char bytes[16'384];
  const ssize_t received = ::recv(fd, bytes, sizeof bytes, 0);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (received < 0) {  // a local socket that is closed with unread data is reset
    const std::lock_guard lock(mutex_);
    unread_ = true;
  }
  if (received <= 0) return false;
  if (const Status status = lines.append({bytes, static_cast<std::size_t>(received)}); !status.ok()) {
    log_warning("closing the link to the agent: " + status.error().message);
    return false;
  }
  std::string line;
  while (lines.next(line)) {
    if (!handle(line)) return false;
  }
  return true;
}

// A generation that is sent again comes from a restarted daemon, which has lost the addresses.
void AgentLink::repeat_address(GenerationNumber generation) {
  std::optional<api::AddressMessage> told;
  {
    const std::lock_guard lock(mutex_);
    told = address_;
  }
  if (told && told->generation == generation && !membership_.has_addresses(generation)) send(*told);
}

bool AgentLink::handle(const std::string& line) {
  auto message = api::decode_to_worker(line);
  if (!message.ok()) {
    log_warning("closing the link to the agent: " + message.error().message);
    return false;
  }
  std::visit(
      Overloaded{
          [this](const api::GenerationMessage& news) {
            membership_.announce({.number = news.number,
                                  .members = news.members,
                                  .after_failure = news.after_failure,
                                  .park = news.park});
            repeat_address(news.number);
          },
          [this](const api::AddressesMessage& news) { membership_.announce_addresses(news.generation, news.blobs); },
          [this](const api::CheckpointOrder&) { membership_.ask_checkpoint(); },
          [this](const api::NoticeMessage& news) { notices_.tell(news, std::chrono::system_clock::now()); },
          [this](const api::SharesMessage& news) {
            membership_.announce_shares(news.generation,
                                        SampleWeights(news.number, {news.weights.begin(), news.weights.end()}));
          }},
      *message);
  return true;
}

}  // namespace tidepool::runtime
