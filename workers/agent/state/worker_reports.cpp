// What workers report, and what their pulses show.
#include <algorithm>
#include <utility>
#include <variant>

#include "base/overloaded.hpp"
#include "workers/agent/state/agent_state.hpp"

namespace tidepool::agent {
namespace {

constexpr std::size_t kAuditsRepeated = 256;

// If the agent wakes this much later than due, the agent was suspended, not the workers.
constexpr Duration kOwnPause = Duration::seconds(3);

// Messages of programs become events and rows of the daemon's journal: limits for their rate and their bursts.
constexpr RateLimit kFigureRate{.every = Duration::millis(1), .at_once = Duration::seconds(10)};
constexpr RateLimit kNewsRate{.every = Duration::millis(500), .at_once = Duration::seconds(60)};
// Each is a reply to a message of the daemon: a program that follows the protocol never comes near this limit.
constexpr RateLimit kReplyRate{.every = Duration::millis(100), .at_once = Duration::seconds(100)};

enum class Bound { kFigures, kNews, kReplies, kNone };

// Each kind is listed, so that the compiler requires a limit for a new kind.
Bound bound_of(const api::FromWorker& message) {
  return std::visit(Overloaded{
                        [](const api::StepsMessage&) { return Bound::kFigures; },
                        [](const api::EpochAuditedMessage& audit) {
                          return audit.checksum_ok && audit.used == audit.expected ? Bound::kFigures : Bound::kNews;
                        },
                        [](const api::CheckpointedMessage&) { return Bound::kNews; },
                        [](const api::CheckpointFailedMessage&) { return Bound::kNews; },
                        [](const api::SwitchedMessage&) { return Bound::kReplies; },
                        [](const api::ParkedMessage&) { return Bound::kReplies; },
                        [](const api::RestoredMessage&) { return Bound::kReplies; },
                        [](const api::RebalancedMessage&) { return Bound::kReplies; },
                        [](const api::AnswerMessage&) { return Bound::kReplies; },
                        // These must be accepted, whatever the program sent before.
                        [](const api::ReadyMessage&) { return Bound::kNone; },
                        [](const api::AddressMessage&) { return Bound::kNone; },
                        [](const api::FinishedMessage&) { return Bound::kNone; },
                        // The agent itself sends these.
                        [](const api::StartedMessage&) { return Bound::kNone; },
                        [](const api::EndedMessage&) { return Bound::kNone; },
                    },
                    message);
}

}  // namespace

bool AgentState::may_say(WorkerId worker, const api::FromWorker& message) {
  const auto found = live_workers_.find(worker);
  if (found == live_workers_.end()) return true;  // its last messages
  LiveWorker& living = found->second;
  const Bound bound = bound_of(message);
  const bool may = bound == Bound::kFigures   ? living.figures.take(kFigureRate, now_)
                   : bound == Bound::kNews    ? living.news.take(kNewsRate, now_)
                   : bound == Bound::kReplies ? living.replies.take(kReplyRate, now_)
                                              : true;
  const auto* checkpoint = std::get_if<api::CheckpointedMessage>(&message);
  if (checkpoint != nullptr) living.newest_checkpoint = may ? std::nullopt : std::optional(*checkpoint);
  if (!may && checkpoint == nullptr) {
    act(WarnOf{worker, worker.text() + " says more than is passed on to the daemon: a message was dropped"});
  }
  return may;
}

// If checkpoints come too fast, the newest one is reported as soon as the limit allows.
Instant AgentState::checkpoint_due(const LiveWorker& living) {
  return living.news.due(kNewsRate);
}

void AgentState::report_newest_checkpoint(WorkerId worker, LiveWorker& living) {
  if (!living.newest_checkpoint) return;
  forward({.worker = worker, .message = *std::exchange(living.newest_checkpoint, std::nullopt)});
}

void AgentState::look_at_checkpoints() {
  for (auto& [worker, living] : live_workers_) {
    if (living.newest_checkpoint && living.news.take(kNewsRate, now_)) report_newest_checkpoint(worker, living);
  }
}

void AgentState::on(WorkerMessageReceived& fact) {
  if (lost_.contains(fact.worker)) return;
  if (!may_say(fact.worker, fact.message)) return;
  if (const auto* answer = std::get_if<api::AnswerMessage>(&fact.message)) on_answer(fact.worker, *answer);
  if (const auto* finished = std::get_if<api::FinishedMessage>(&fact.message)) {
    finished_[fact.worker] = *finished;
    if (!welcomed()) return;
  }
  forward({.worker = fact.worker, .message = std::move(fact.message)});
}

void AgentState::forward(api::FromWorkerReport report) {
  if (welcomed()) return pass_on(std::move(report));
  outbox_.add(std::move(report));
}

void AgentState::pass_on(api::FromWorkerReport report) {
  workers_were_heard_ = true;
  if (std::holds_alternative<api::EpochAuditedMessage>(report.message)) {
    audits_.push_back(report);
    if (audits_.size() > kAuditsRepeated) audits_.pop_front();
  }
  act(SendToDaemon{std::move(report)});
}

void AgentState::on(const WorkerPulseReceived& fact) {
  const auto found = live_workers_.find(fact.worker);
  if (found == live_workers_.end()) return;
  std::optional<Heartbeat>& heart = found->second.heart;
  // A program's work after a commit and its next step have the same number and phase, but limits of their own.
  const bool same = heart && heart->pulse.step == fact.pulse.step && heart->pulse.phase == fact.pulse.phase &&
                    heart->pulse.stuck_after_ms == fact.pulse.stuck_after_ms;
  const bool computes = fact.pulse.phase == api::PulsePhase::kComputing;
  // A worker that was only silent has come back; one that computes for ever has not.
  const bool told = same && computes && heart->told;
  heart = {.pulse = fact.pulse, .heard_at = now_, .since = same ? heart->since : now_, .told = told};
  look_at_heart(fact.worker, *heart);
}

void AgentState::on(const WorkerHungUp& fact) {
  const auto found = live_workers_.find(fact.worker);
  if (found != live_workers_.end()) found->second.heart.reset();
}

// Two ways to be stuck: no pulse at all, or pulses that report the same computation for too long.
Instant AgentState::stuck_at(const Heartbeat& heart) const {
  const Duration limit = Duration::millis(heart.pulse.stuck_after_ms);
  Instant at = heart.heard_at + (limit > Duration() ? std::min(limit, times_.silence_max) : times_.silence_max);
  if (heart.pulse.phase == api::PulsePhase::kComputing) at = std::min(at, heart.since + limit);
  return at;
}

void AgentState::look_at_heart(WorkerId worker, Heartbeat& heart) {
  if (heart.told || !welcomed() || stuck_at(heart) > now_) return;
  heart.told = true;
  const bool silent = heart.pulse.phase != api::PulsePhase::kComputing;
  act(SendToDaemon{api::WorkerStuckReport{.worker = worker,
                                          .step = heart.pulse.step,
                                          .phase = heart.pulse.phase,
                                          .for_ms = (now_ - (silent ? heart.heard_at : heart.since)).count_ms()}});
}

// An agent that was itself suspended has not read the pulses that wait for it.
void AgentState::forgive_own_pause(Instant now) {
  if (now - now_ < kOwnPause) return;
  const auto due = deadline();
  if (!due || now - *due < kOwnPause) return;
  for (auto& [worker, living] : live_workers_) {
    if (!living.heart) continue;
    living.heart->heard_at = now;
    living.heart->since = living.heart->since + (now - *due);
  }
}

// The state of a restartable worker is sent again when a daemon connects, but not how an earlier program ended.
void AgentState::say(WorkerId worker, api::FromWorker message) {
  const auto found = live_workers_.find(worker);
  const bool stands = found == live_workers_.end() || !found->second.restartable || found->second.restartable->ended();
  api::FromWorkerReport report{.worker = worker, .message = std::move(message)};
  if (std::holds_alternative<api::EndedMessage>(report.message) && !stands) return forward(std::move(report));
  send(std::move(report));
}

}  // namespace tidepool::agent
