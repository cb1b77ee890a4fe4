#include "workers/agent/agent_state.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/overloaded.hpp"

namespace tidepool::agent {
namespace {

// Enough for a worker's messages over some minutes without a daemon; the oldest are dropped first,
// because every later `ready` and `steps` supersedes them.
constexpr std::size_t kOutboxMax = 10'000;

}  // namespace

std::set<WorkerId> History::open() const {
  std::set<WorkerId> workers = started;
  for (const auto& [worker, ignored] : exits) workers.erase(worker);
  return workers;
}

AgentState::AgentState(AgentTimes times, History history, std::uint64_t seed, Instant now)
    : times_(std::move(times)), history_(std::move(history)), rng_(seed), now_(now), connect_at_(now) {
  for (const WorkerId worker : history_.open()) living_.emplace(worker, Living{});
  look_at_idleness();
}

std::vector<Action> AgentState::step(Instant now, Fact fact) {
  now_ = now;
  std::visit([this](auto& body) { on(body); }, fact);
  look_at_idleness();
  if (quitting_ && living_.empty()) act(Quit{"all workers have been stopped, as asked"});
  return std::exchange(actions_, {});
}

std::optional<Instant> AgentState::deadline() const {
  std::optional<Instant> earliest;
  const auto consider = [&](const std::optional<Instant>& at) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  };
  consider(connect_at_);
  consider(give_up_at_);
  consider(heartbeat_at_);
  consider(idle_at_);
  for (const auto& [worker, living] : living_) consider(living.kill_at);
  return earliest;
}

void AgentState::on(const LinkOpened&) {
  link_ = Link::kGreeted;
  give_up_at_ = now_ + times_.welcome_patience;
  std::vector<WorkerId> running;
  for (const auto& [worker, ignored] : living_) running.push_back(worker);
  act(SendHello{std::move(running)});
}

// Exponential backoff with jitter, so that a thousand agents do not return in the same instant.
void AgentState::on(const LinkClosed&) {
  link_ = Link::kDown;
  give_up_at_.reset();
  heartbeat_at_.reset();
  const int doublings = std::min(failed_attempts_++, 20);
  const Duration full = std::min(times_.backoff_min * (std::int64_t{1} << doublings), times_.backoff_max);
  connect_at_ = now_ + Duration::micros(rng_.between(full.count_us() / 2, full.count_us()));
}

void AgentState::on(DaemonSaid& fact) {
  const bool greeting =
      std::holds_alternative<api::AgentWelcome>(fact.message) || std::holds_alternative<api::AgentRefuse>(fact.message);
  if (greeting == welcomed()) {
    act(CloseLink{greeting ? "the daemon greeted twice" : "the daemon gave an order before its welcome"});
    return;
  }
  std::visit([this](auto& order) { obey(order); }, fact.message);
}

void AgentState::on(WorkerSaid& fact) {
  if (const auto* finished = std::get_if<api::FinishedMessage>(&fact.message)) {
    finished_[fact.worker] = *finished;
    if (!welcomed()) return;
  }
  api::FromWorkerReport report{.worker = fact.worker, .message = std::move(fact.message)};
  if (welcomed()) {
    workers_were_heard_ = true;
    act(SendToDaemon{std::move(report)});
    return;
  }
  if (outbox_.size() >= kOutboxMax) outbox_.erase(outbox_.begin(), outbox_.begin() + kOutboxMax / 10);
  outbox_.push_back(std::move(report));
}

void AgentState::on(const WorkerEnded& fact) {
  if (living_.erase(fact.worker) > 0) end(fact);
}

void AgentState::on(const TimePassed&) {
  const auto due = [this](const std::optional<Instant>& at) { return at && *at <= now_; };
  for (auto& [worker, living] : living_) {
    if (!due(living.kill_at)) continue;
    living.kill_at.reset();
    act(SignalWorker{worker, SIGKILL});
  }
  if (due(heartbeat_at_)) {
    heartbeat_at_ = now_ + heartbeat_;
    send(api::AgentHeartbeat{});
  }
  if (due(give_up_at_)) {
    give_up_at_.reset();
    act(CloseLink{"the daemon did not answer the hello"});
  }
  if (due(connect_at_)) {
    connect_at_.reset();
    link_ = Link::kConnecting;
    act(OpenLink{});
  }
  if (due(idle_at_)) {
    idle_at_.reset();
    act(Quit{"no daemon and no worker for " + to_text(*times_.exit_when_idle)});
  }
}

void AgentState::on(const QuitAsked& fact) {
  if (!fact.stop_workers) {
    act(Quit{"asked to; the workers go on"});
    return;
  }
  const Duration grace = quitting_ ? Duration() : times_.stop_grace;
  quitting_ = true;
  std::vector<WorkerId> workers;
  for (const auto& [worker, ignored] : living_) workers.push_back(worker);
  for (const WorkerId worker : workers) stop(worker, grace);
}

void AgentState::obey(api::AgentWelcome& order) {
  link_ = Link::kWelcomed;
  failed_attempts_ = 0;
  give_up_at_.reset();
  heartbeat_ = Duration::millis(order.heartbeat_ms);
  heartbeat_at_ = now_ + heartbeat_;
  // What a worker said comes before its exit.
  const bool resync = workers_were_heard_;
  for (auto& report : std::exchange(outbox_, {})) {
    workers_were_heard_ = true;
    act(SendToDaemon{std::move(report)});
  }
  for (const auto& [worker, finished] : finished_) {
    act(SendToDaemon{api::FromWorkerReport{.worker = worker, .message = finished}});
  }
  for (const WorkerId worker : history_.unacknowledged) report_again(worker);
  // What the last daemon had read but not made durable is lost; a fresh `ready` from each worker mends it.
  if (resync) act(CloseWorkerLinks{});
}

void AgentState::obey(api::AgentRefuse& order) {
  act(CloseLink{"the daemon refused this agent: " + order.why});
}

void AgentState::obey(api::StartWorker& order) {
  const WorkerId worker = order.worker;
  if (living_.contains(worker)) return;
  if (history_.started.contains(worker)) {
    report_again(worker);
    return;
  }
  history_.started.insert(worker);
  act(RecordStarted{worker});
  if (quitting_) {
    end({.worker = worker, .detail = "this node is being stopped; nothing was started"});
    return;
  }
  living_.emplace(worker, Living{});
  act(SpawnWorker{std::move(order)});
}

// Stopping an id that has never been here ends it for good: a late `start` must not revive it.
void AgentState::obey(api::StopWorker& order) {
  if (living_.contains(order.worker)) {
    stop(order.worker, Duration::millis(order.grace_ms));
  } else if (history_.started.insert(order.worker).second) {
    act(RecordStarted{order.worker});
    end({.worker = order.worker, .detail = "stopped before it was started on this node"});
  } else {
    report_again(order.worker);
  }
}

void AgentState::obey(api::ReportAck& order) {
  for (const WorkerId worker : history_.unacknowledged) {
    if (history_.exits.at(worker).report != order.report) continue;
    finished_.erase(worker);
    act(RecordAck{worker});
    history_.unacknowledged.erase(worker);
    return;
  }
}

void AgentState::obey(api::ToWorkerOrder& order) {
  if (living_.contains(order.worker)) act(SendToWorker{order.worker, std::move(order.message)});
}

void AgentState::obey(api::LogRead& order) {
  act(ReadLog{order});
}

void AgentState::stop(WorkerId worker, Duration grace) {
  Living& living = living_.at(worker);
  if (grace <= Duration()) {
    living.kill_at.reset();
    act(SignalWorker{worker, SIGKILL});
    return;
  }
  const Instant kill_at = now_ + grace;
  // A second stop may shorten the grace, never lengthen it.
  if (!living.kill_at || kill_at < *living.kill_at) living.kill_at = kill_at;
  act(SignalWorker{worker, SIGTERM});
}

void AgentState::end(const WorkerEnded& outcome) {
  const api::WorkerExitedReport report{.report = history_.next_report++,
                                       .worker = outcome.worker,
                                       .exit_code = outcome.exit_code,
                                       .signal = outcome.signal,
                                       .detail = outcome.detail};
  history_.exits[outcome.worker] = report;
  history_.unacknowledged.insert(outcome.worker);
  act(RecordExit{report});
  send(report);
}

void AgentState::report_again(WorkerId worker) {
  const auto found = history_.exits.find(worker);
  if (found == history_.exits.end()) return;
  send(found->second);
}

void AgentState::send(api::AgentToDaemon message) {
  if (welcomed()) act(SendToDaemon{std::move(message)});
}

void AgentState::look_at_idleness() {
  const bool idle = times_.exit_when_idle && !welcomed() && living_.empty();
  if (!idle) {
    idle_at_.reset();
  } else if (!idle_at_) {
    idle_at_ = now_ + *times_.exit_when_idle;
  }
}

}  // namespace tidepool::agent
