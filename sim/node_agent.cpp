#include "sim/node_agent.hpp"

#include <utility>

#include "base/overloaded.hpp"

namespace tidepool::sim {
namespace {

// Beyond this no run goes: a heartbeat that is not wanted (sim/daemon.hpp) is due later still.
constexpr Duration kNever = Duration::seconds(5LL * 365 * 86'400);

// An attempt to connect waits until the daemon can be reached, so that none is made in vain, and none needs a pause.
agent::AgentTimes agent_times() {
  return {.backoff_min = Duration(), .backoff_max = Duration(), .exit_when_idle = {}};
}

}  // namespace

void NodeAgent::boot(Machine& machine, Instant now) {
  state_.emplace(agent_times(), disk_.history, seed_, now);
  wake_at_.reset();
  adopt_workers(machine, now);
  feed(agent::TimePassed{}, machine, now);
}

// No process survives its machine. Restartable workers do: they are no processes.
void NodeAgent::adopt_workers(Machine& machine, Instant now) {
  for (const WorkerId worker : disk_.history.open()) {
    const auto found = disk_.programs.find(worker);
    if (found == disk_.programs.end()) {
      feed(agent::WorkerEnded{.worker = worker, .detail = "exited while no agent watched it; exit code unknown"},
           machine, now);
      continue;
    }
    ProgramRecord& known = found->second;
    if (!known.started) {
      feed(agent::RestartableAdopted{agent::RestartableWorker(known.order)}, machine, now);
      continue;
    }
    if (!known.ended) {
      known.ended = api::EndedMessage{.generation = known.generation,
                                      .detail = "exited while no agent watched it; exit code unknown"};
    }
    feed(agent::RestartableAdopted{agent::RestartableWorker(known.order, known.rank, *known.ended)}, machine, now);
  }
}

void NodeAgent::crash() {
  state_.reset();
  facts_.clear();
  wake_at_.reset();
}

void NodeAgent::feed(agent::Fact fact, Machine& machine, Instant now) {
  if (!state_) return;
  facts_.push_back(std::move(fact));
  if (std::exchange(feeding_, true)) return;
  while (!facts_.empty()) {
    agent::Fact next = std::move(facts_.front());
    facts_.pop_front();
    for (agent::Action& action : state_->step(now, std::move(next))) carry_out(action, machine, now);
  }
  feeding_ = false;
  arm(machine, now);
}

void NodeAgent::wake(Machine& machine, Instant now) {
  if (!state_ || wake_at_ != now) return;
  wake_at_.reset();
  const auto due = state_->deadline();
  if (due && *due <= now) return feed(agent::TimePassed{}, machine, now);
  arm(machine, now);
}

void NodeAgent::arm(Machine& machine, Instant now) {
  const auto due = state_->deadline();
  if (!due || *due - now > kNever || (wake_at_ && *wake_at_ <= *due)) return;
  wake_at_ = *due;
  machine.wake_at(*due);
}

void NodeAgent::carry_out(agent::Action& action, Machine& machine, Instant now) {
  record(action);
  std::visit(Overloaded{
                 [&](const agent::OpenLink&) { machine.open_link(); },
                 [&](const agent::CloseLink&) { machine.close_link(); },
                 [&](agent::SendHello& hello) { machine.greet(std::move(hello.running)); },
                 [&](agent::SendToDaemon& what) { machine.send(std::move(what.message)); },
                 [&](const agent::SendToWorker& what) { machine.on_message(what.worker, what.message); },
                 [&](const agent::CloseWorkerLinks&) { machine.relink_workers(); },
                 [&](const agent::SpawnWorker& what) { machine.begin_worker(what.order); },
                 [&](const agent::SpawnProgram& what) { machine.begin_program(what.order.worker, what.what); },
                 [&](const agent::RecordRestartable& what) { machine.begin_worker(what.order); },
                 [&](const agent::SignalWorker& what) { machine.signal(what.worker, what.signal); },
                 [&](const agent::AskForState& what) { machine.ask_for_state(what.job, what.step); },
                 [&](const agent::FetchSavedState& what) { machine.fetch_state(what.from); },
                 [&](const agent::AbandonFetch& what) { machine.abandon_fetch(what.job); },
                 [&](const agent::OfferSavedState& what) { machine.offer_state(what.order); },
                 [&](const agent::RecordExit& what) { machine.end_worker(what.report.worker); },
                 [&](const agent::ForgetWorker& what) { machine.end_worker(what.worker); },
                 // A worker's id stands for its program's address; no port is taken.
                 [&](const agent::OfferProgramAddress& offer) {
                   const WorkerId worker = offer.order.worker;
                   feed(agent::WorkerMessageReceived{worker, api::AddressMessage{offer.what.generation, offer.what.rank,
                                                                                 worker.text()}},
                        machine, now);
                 },
                 // Nothing to log, to measure or to delete, and no agent is told to quit.
                 [](const auto&) {},
             },
             action);
}

void NodeAgent::record(const agent::Action& action) {
  agent::RecordedWorkers& history = disk_.history;
  std::visit(Overloaded{
                 [&](const agent::RecordStarted& what) {
                   history.started.insert(what.worker);
                   if (what.started_at > 0) history.starts[what.worker] = what.started_at;
                 },
                 [&](const agent::RecordExit& what) {
                   const WorkerId worker = what.report.worker;
                   history.exits[worker] = what.report;
                   history.unacknowledged.insert(worker);
                   history.next_report = what.report.report + 1;
                   disk_.programs.erase(worker);
                 },
                 [&](const agent::RecordAck& what) { history.unacknowledged.erase(what.worker); },
                 [&](const agent::ForgetWorker& what) {
                   history.forget(what.worker);
                   disk_.programs.erase(what.worker);
                 },
                 [&](const agent::RecordCluster& what) { history.cluster = what.cluster; },
                 [&](const agent::ForgetRecords&) { disk_ = {}; },
                 [&](const agent::RecordRestartable& what) {
                   ProgramRecord& worker = disk_.programs[what.order.worker];
                   worker.order = what.order;
                   worker.started = what.ended.has_value();
                   worker.ended = what.ended;
                 },
                 [&](const agent::OfferProgramAddress& offer) {
                   ProgramRecord& worker = disk_.programs.at(offer.order.worker);
                   worker.generation = offer.what.generation;
                   worker.rank = offer.what.rank;
                 },
                 [&](const agent::SpawnProgram& what) {
                   ProgramRecord& worker = disk_.programs.at(what.order.worker);
                   worker.started = true;
                   worker.ended.reset();
                 },
                 [](const auto&) {},
             },
             action);
}

}  // namespace tidepool::sim
