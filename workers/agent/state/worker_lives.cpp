// How workers start and end here. A worker id is started once in the life of a state directory, whatever happens to it,
// and each end is recorded before it is reported.
#include <algorithm>
#include <csignal>
#include <utility>

#include "base/overloaded.hpp"
#include "base/process_end.hpp"
#include "workers/agent/state/agent_state.hpp"

namespace tidepool::agent {

void AgentState::handle(api::StartWorker& order) {
  const WorkerId worker = order.worker;
  if (names_another(order)) lose(worker);
  if (const auto lost = lost_.find(worker); lost != lost_.end()) {
    lost->second = {.next = std::move(order)};
    return;
  }
  if (const auto found = live_workers_.find(worker); found != live_workers_.end()) {
    if (found->second.restartable) take_steps(worker, found->second.restartable->resend());
    return;
  }
  if (history_.started.contains(worker)) {
    report_again(worker);
    return;
  }
  const std::int64_t started_at = order.started_at.value_or(0);
  if (quitting_) return refuse_start(worker, "this node is being stopped; nothing was started", started_at);
  if (order.state_step) return take_steps(state_waits_.hold(std::move(order), now_));
  start(std::move(order));
}

void AgentState::refuse_start(WorkerId worker, std::string detail, std::int64_t started_at) {
  history_.started.insert(worker);
  if (started_at > 0) history_.starts[worker] = started_at;
  act(RecordStarted{worker, started_at});
  end({.worker = worker, .detail = std::move(detail), .nothing_started = true});
}

// Not recorded earlier: the next agent receives the orders of workers that wait for a state again.
void AgentState::start(api::StartWorker order) {
  const WorkerId worker = order.worker;
  history_.started.insert(worker);
  if (order.started_at) history_.starts[worker] = *order.started_at;
  act(RecordStarted{worker, order.started_at.value_or(0)});
  probe_.worker_started();
  LiveWorker& living = live_workers_.emplace(worker, LiveWorker{}).first->second;
  if (!order.restart_grace_ms) return act(SpawnWorker{std::move(order)});
  living.restartable.emplace(std::move(order));
  act(RecordRestartable{living.restartable->order(), {}});
  take_steps(worker, living.restartable->resend());
}

// Stopping an id that was never here ends it permanently: a late `start` must not start it.
void AgentState::handle(api::StopWorker& order) {
  take_steps(state_waits_.let_go(order.worker));
  if (const auto lost = lost_.find(order.worker); lost != lost_.end()) {
    lost->second.stopped = true;
  } else if (live_workers_.contains(order.worker)) {
    stop(order.worker, Duration::millis(order.grace_ms));
  } else if (!history_.started.contains(order.worker)) {
    refuse_start(order.worker, "stopped before it was started on this node");
  } else {
    report_again(order.worker);
  }
}

void AgentState::on(WorkerEnded& fact) {
  const auto found = live_workers_.find(fact.worker);
  if (found == live_workers_.end()) return;
  if (lost_.contains(fact.worker)) return lost_has_ended(fact.worker);
  const std::string by_agent = std::exchange(found->second.ended_by_agent, {});
  if (!by_agent.empty() && fact.signal == SIGKILL) {
    fact.detail = by_agent + (fact.detail.empty() ? "" : "; " + fact.detail);
  }
  // If its agent can start no program, a restartable worker is useless here: another node may be able to.
  if (found->second.restartable && !found->second.held && !fact.nothing_started) {
    found->second.kill_at.reset();
    found->second.granted_until.reset();
    RestartableWorker::Steps steps = found->second.restartable->program_ended(fact.exit_code, fact.signal, fact.detail);
    const bool leaves = !steps.empty() && std::holds_alternative<RestartableWorker::Leave>(steps.back());
    if (!leaves) {
      act(RecordRestartable{found->second.restartable->order(), found->second.restartable->ended()});
      return take_steps(fact.worker, steps);
    }
  }
  report_newest_checkpoint(fact.worker, found->second);
  live_workers_.erase(found);
  end(fact);
}

void AgentState::on(const SlotsStillHeld& fact) {
  const auto found = live_workers_.find(fact.ended.worker);
  if (found == live_workers_.end() || lost_.contains(fact.ended.worker)) return;
  LiveWorker& living = found->second;
  living.held = fact;
  living.held_at = now_;
  living.kill_at.reset();
  living.heart.reset();
  report_held(living);
}

// Leave is always the last step: the restartable worker no longer exists after it.
void AgentState::take_steps(WorkerId worker, const RestartableWorker::Steps& steps) {
  const api::StartWorker order = live_workers_.at(worker).restartable->order();
  for (const RestartableWorker::Step& step : steps) {
    std::visit(Overloaded{
                   [&](const RestartableWorker::SendMessage& what) { say(worker, what.message); },
                   [&](const RestartableWorker::OfferAddress& what) { act(OfferProgramAddress{order, what}); },
                   [&](const RestartableWorker::EndProgram&) {
                     end_process(worker, Duration::millis(*order.restart_grace_ms));
                   },
                   [&](const RestartableWorker::StartProgram& what) { act(SpawnProgram{order, what}); },
                   [&](const RestartableWorker::Leave&) {
                     live_workers_.erase(worker);
                     end({.worker = worker, .exit_code = 0}, false);
                   },
               },
               step);
  }
}

void AgentState::stop(WorkerId worker, Duration grace) {
  if (auto& restartable = live_workers_.at(worker).restartable) {
    const bool runs = restartable->has_program();
    const RestartableWorker::Steps steps = restartable->stop();
    if (!runs) return take_steps(worker, steps);
  }
  end_process(worker, grace);
}

void AgentState::end_process(WorkerId worker, Duration grace) {
  LiveWorker& living = live_workers_.at(worker);
  if (grace <= Duration()) return kill(worker, "its agent killed it on an order of the daemon");
  const Instant kill_at = std::max(now_ + grace, living.granted_until.value_or(now_));
  // A second stop may shorten the grace time, never lengthen it; a second signal would interrupt a save.
  const bool was_told = living.kill_at.has_value();
  if (!was_told) act(SignalWorker{worker, SIGTERM});
  if (!was_told || kill_at < *living.kill_at) end_by(worker, living, kill_at);
}

// Recorded after the signal: a process that was not asked to end must not be recorded as one that was.
void AgentState::end_by(WorkerId worker, LiveWorker& living, Instant kill_at) {
  living.kill_at = kill_at;
  act(RecordEnding{worker, kill_at});
}

void AgentState::kill(WorkerId worker, const std::string& why) {
  LiveWorker& living = live_workers_.at(worker);
  living.kill_at.reset();
  living.ended_by_agent = why;
  act(SignalWorker{worker, SIGKILL});
}

void AgentState::end(const WorkerEnded& outcome, bool was_program) {
  const bool is_unknown = is_end_unknown(outcome.exit_code, outcome.signal);
  const api::WorkerExitedReport report{
      .report = history_.next_report++,
      .worker = outcome.worker,
      .exit_code = outcome.exit_code,
      .signal = outcome.signal,
      .detail = outcome.detail,
      .nothing_started = is_unknown ? std::optional(outcome.nothing_started) : std::nullopt};
  state_waits_.worker_ended(outcome.worker);
  history_.exits[outcome.worker] = report;
  history_.unacknowledged.insert(outcome.worker);
  act(RecordExit{report, was_program});
  send(report);
}

std::string to_text(const RecordExit& exit) {
  const api::WorkerExitedReport& report = exit.report;
  if (!exit.was_program) return report.worker.text() + " has left its slots; no program of it was running";
  return report.worker.text() + " ended: exit code " + std::to_string(report.exit_code) + ", signal " +
         std::to_string(report.signal) + ", \"" + report.detail + "\"";
}

void AgentState::report_again(WorkerId worker) {
  const auto found = history_.exits.find(worker);
  if (found == history_.exits.end()) return;
  send(found->second);
}

}  // namespace tidepool::agent
