#include "workers/runtime/comm_builder.hpp"

#include <utility>

#include "base/check.hpp"

namespace tidepool::runtime {

CommBuilder::CommBuilder(CommBuilderOptions options, Membership& membership, Publish publish)
    : options_(std::move(options)), membership_(membership), publish_(std::move(publish)) {}

CommBuilder::~CommBuilder() {
  abandon();
}

void CommBuilder::start(const Generation& target) {
  TP_CHECK(target.number > target_.number, "builds go to ever newer generations");
  TP_CHECK(target.rank_of(options_.self) >= 0, "a worker builds only for a generation that it is in");
  abandon();
  target_ = target;
  state_ = State::kBuilding;
  thread_ = std::thread([this, target] { build(target); });
}

// The build in progress ends because it sees the newer generation, or by its timeouts.
void CommBuilder::abandon() {
  if (thread_.joinable()) thread_.join();
  comm_.reset();
  state_ = State::kIdle;
}

CommBuilder::State CommBuilder::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void CommBuilder::wait() {
  if (thread_.joinable()) thread_.join();
}

bool CommBuilder::wait_until(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  return built_.wait_until(lock, deadline, [this] { return state_ != State::kBuilding; });
}

CommBuilder::Built CommBuilder::take() {
  wait();
  TP_CHECK(state_ == State::kReady, "only a finished build is taken");
  state_ = State::kIdle;
  return {.generation = target_, .comm = std::move(comm_), .build_ms = build_ms_};
}

Error CommBuilder::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void CommBuilder::build(Generation target) {
  const TimePoint begin = Clock::now();
  Membership::WatchId watch = 0;
  auto built = connect(target, watch);
  membership_.unwatch(watch);
  const std::lock_guard lock(mutex_);
  build_ms_ = millis_between(begin, Clock::now());
  if (built.ok()) {
    comm_ = *built;
    state_ = State::kReady;
  } else {
    failure_ = {built.error().code, "generation " + std::to_string(target.number) + ": " + built.error().message};
    state_ = State::kFailed;
  }
  built_.notify_all();
}

Result<std::shared_ptr<Comm>> CommBuilder::connect(const Generation& target, Membership::WatchId& watch) {
  if (target.size() == 1) return std::shared_ptr<Comm>(make_solo_comm());
  const int rank = target.rank_of(options_.self);
  const auto opened = CommOpening::open(options_.transports, {.rank = rank,
                                                              .size = target.size(),
                                                              .host = options_.host,
                                                              .connect_timeout = options_.connect_timeout,
                                                              .collective_timeout = options_.collective_timeout});
  if (!opened.ok()) return opened.error();
  const std::shared_ptr<CommOpening>& opening = *opened;
  watch = membership_.watch(target.number, Membership::Over::kByAnyNewer, [this, opening] {
    if (options_.interrupt) options_.interrupt();
    opening->abort();
  });
  publish_({.generation = target.number, .rank = rank, .blob = opening->address()});
  const auto addresses = membership_.wait_addresses(target.number, Clock::now() + options_.address_timeout);
  if (!addresses) {
    return Error{ErrorCode::kUnavailable, "a newer generation came, or not all members said where they listen"};
  }
  set_connecting(true);
  auto connected = opening->connect(*addresses);
  // The kernel completes a connection even to a stopped process; only an answer proves that all ranks are there.
  const std::int64_t here = rank;
  const bool answered = connected.ok() && (*connected)->allgather({&here, 1}).ok();
  set_connecting(false);
  if (connected.ok() && !answered) return Error{ErrorCode::kUnavailable, "a member is gone"};
  if (connected.ok() && options_.prepare) TP_TRY(options_.prepare(**connected));
  return connected;
}

void CommBuilder::set_connecting(bool on) {
  const std::lock_guard lock(mutex_);
  connecting_since_ = on ? std::optional(Clock::now()) : std::nullopt;
}

Millis CommBuilder::connecting_for(TimePoint now) const {
  const std::lock_guard lock(mutex_);
  return connecting_since_ ? std::chrono::duration_cast<Millis>(now - *connecting_since_) : Millis{0};
}

}  // namespace tidepool::runtime
