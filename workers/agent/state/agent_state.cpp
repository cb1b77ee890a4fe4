#include "workers/agent/state/agent_state.hpp"

#include <algorithm>
#include <utility>

#include "base/first_after.hpp"
#include "base/overloaded.hpp"

namespace tidepool::agent {
namespace {

// Repeated checks give slightly different ends for the same notice.
constexpr Duration kSameEnd = Duration::seconds(1);

}  // namespace

std::set<WorkerId> RecordedWorkers::open() const {
  std::set<WorkerId> workers = started;
  for (const auto& [worker, ignored] : exits) workers.erase(worker);
  return workers;
}

void RecordedWorkers::forget(WorkerId worker) {
  started.erase(worker);
  starts.erase(worker);
  exits.erase(worker);
  unacknowledged.erase(worker);
}

void RecordedWorkers::confirm(WorkerId worker, std::size_t kept) {
  unacknowledged.erase(worker);
  if (const auto ended = exits.find(worker); ended != exits.end()) ended->second.detail.clear();
  while (exits.size() > kept && !unacknowledged.contains(exits.begin()->first)) forget(exits.begin()->first);
}

AgentState::AgentState(AgentTimes times, RecordedWorkers history, std::uint64_t seed, Instant now)
    : times_(std::move(times)), history_(std::move(history)), now_(now), link_(times_, seed, now) {
  for (const WorkerId worker : history_.open()) live_workers_.emplace(worker, LiveWorker{});
  look_at_idleness();
}

std::vector<Action> AgentState::step(Instant now, Fact fact) {
  forgive_own_pause(now);
  now_ = now;
  std::visit([this](auto& body) { on(body); }, fact);
  look_at_idleness();
  if (probe_.begins(!quitting_ && live_workers_.empty())) act(ProbeDevices{});
  look_at_checkpoints();
  if (quitting_ && live_workers_.empty()) act(Quit{"all workers have been stopped, as asked"});
  return std::exchange(actions_, {});
}

std::optional<Instant> AgentState::deadline() const {
  FirstAfter earliest;
  earliest.consider(link_.deadline());
  earliest.consider(idle_at_);
  earliest.consider(state_waits_.deadline());
  for (const auto& [job, at] : forget_at_) earliest.consider(at);
  for (const auto& [worker, living] : live_workers_) {
    earliest.consider(living.kill_at);
    if (living.newest_checkpoint) earliest.consider(checkpoint_due(living));
    if (welcomed() && living.heart && !living.heart->told) earliest.consider(stuck_at(*living.heart));
  }
  return earliest.found();
}

void AgentState::on(const LinkOpened&) {
  link_.opened(now_);
  // A worker whose exit is not acknowledged counts as running: its last messages, perhaps that the training is done,
  // must come from a worker that the daemon knows.
  std::set<WorkerId> running = history_.unacknowledged;
  for (const auto& [worker, ignored] : live_workers_) {
    if (!lost_.contains(worker)) running.insert(worker);
  }
  told_ended_ = !history_.unacknowledged.empty();
  SendHello hello{{running.begin(), running.end()}, {}};
  for (const WorkerId worker : running) {
    const auto start = history_.starts.find(worker);
    hello.starts.push_back(start == history_.starts.end() ? 0 : start->second);
  }
  act(std::move(hello));
}

void AgentState::on(const LinkClosed&) {
  link_.closed(now_);
  state_waits_.link_down();
  for (auto& [worker, lost] : lost_) lost = {};  // later orders are sent again
}

void AgentState::on(DaemonMessageReceived& fact) {
  // A refusal may come at any time: the node may be revoked.
  const bool refused = std::holds_alternative<api::AgentRefuse>(fact.message);
  const bool greeting = std::holds_alternative<api::AgentWelcome>(fact.message);
  if (!refused && greeting == welcomed()) {
    act(CloseLink{greeting ? "the daemon greeted twice" : "the daemon gave an order before its welcome"});
    return;
  }
  std::visit([this](auto& order) { handle(order); }, fact.message);
}

void AgentState::report_held(const LiveWorker& living) {
  const WorkerEnded& ended = living.held->ended;
  send(api::SlotsHeldReport{.worker = ended.worker,
                            .for_ms = (living.held->lasted + (now_ - living.held_at)).count_ms(),
                            .why = living.held->why,
                            .exit_code = ended.exit_code,
                            .signal = ended.signal,
                            .detail = ended.detail});
}

void AgentState::on(const RestartableAdopted& fact) {
  const auto found = live_workers_.find(fact.restartable.order().worker);
  if (found != live_workers_.end()) found->second.restartable = fact.restartable;
}

// An overdue end still waits for a link: a daemon that has granted more time meanwhile repeats that.
void AgentState::on(const EndingAdopted& fact) {
  const auto found = live_workers_.find(fact.worker);
  if (found != live_workers_.end()) found->second.kill_at = std::max(fact.kill_at, now_ + times_.backoff_max);
}

void AgentState::on(DevicesProbed& fact) {
  if (const api::ProbedReport* report = probe_.ended(std::move(fact.report))) send(*report);
}

// A notice is seen at each check of its source, by some sources as a duration from then: the earliest end counts.
void AgentState::on(const ReclaimLooked& fact) {
  const bool is_other = !reclaim_ || fact.at.has_value() != reclaim_->at.has_value();
  if (!is_other && (!fact.at || *fact.at + kSameEnd > *reclaim_->at)) return;
  reclaim_ = fact;
  report_reclaim();
}

void AgentState::report_reclaim() {
  api::ReclaimReport report;
  if (reclaim_->at) report.in_ms = std::clamp(*reclaim_->at - now_, Duration(), api::kReclaimNoticeMax).count_ms();
  send(report);
}

void AgentState::on(const StateBytesCame& fact) {
  state_waits_.bytes_came(fact.job, now_);
}

void AgentState::on(const StateIsHere& fact) {
  take_steps(state_waits_.state_is_here(fact.job, fact.step, fact.bytes, now_));
}

void AgentState::on(const StateFetchBroke& fact) {
  state_waits_.fetch_broke(fact.job, fact.why, now_);
}

void AgentState::on(const TimePassed&) {
  take_steps(state_waits_.time_passed(now_));
  for (auto& [worker, living] : live_workers_) {
    if (living.heart) look_at_heart(worker, *living.heart);
    if (!living.kill_at || *living.kill_at > now_) continue;
    kill(worker, "its agent killed it: it did not exit within its grace after the order to stop");
  }
  drop_states_due();
  const LinkState::Due due = link_.take_due(now_);
  if (due.heartbeat) send(api::AgentHeartbeat{});
  if (due.gives_up) act(CloseLink{"the daemon did not answer the hello"});
  if (due.connects) {
    link_.connect();
    act(OpenLink{});
  }
  if (idle_at_ && *idle_at_ <= now_) {
    idle_at_.reset();
    act(Quit{"no daemon and no worker for " + to_text(*times_.exit_when_idle)});
  }
}

void AgentState::drop_states_due() {
  for (auto it = forget_at_.begin(); it != forget_at_.end();) {
    if (it->second > now_) {
      ++it;
      continue;
    }
    act(DropStates{it->first});
    it = forget_at_.erase(it);
  }
}

void AgentState::on(const QuitAsked& fact) {
  if (!fact.stop_workers) {
    act(Quit{"asked to; the workers continue"});
    return;
  }
  const Duration grace = quitting_ ? Duration() : times_.stop_grace;
  if (!std::exchange(quitting_, true) && !live_workers_.empty()) send(api::StoppingReport{});
  for (const WorkerId worker : state_waits_.held()) {
    take_steps(state_waits_.let_go(worker));
    refuse_start(worker, "this node is being stopped; nothing was started");
  }
  std::vector<WorkerId> workers;
  for (const auto& [worker, ignored] : live_workers_) workers.push_back(worker);
  for (const WorkerId worker : workers) stop(worker, grace);
}

void AgentState::handle(api::AgentWelcome& order) {
  if (!belongs_to(order.cluster)) return;
  for (const WorkerId worker : order.lost.value_or(std::vector<WorkerId>())) lose(worker);
  link_.welcome(now_, Duration::millis(order.heartbeat_ms));
  if (probe_.newest()) act(SendToDaemon{*probe_.newest()});
  for (const auto& [worker, living] : live_workers_) {
    if (living.held && !lost_.contains(worker)) report_held(living);
  }
  if (reclaim_) report_reclaim();
  if (quitting_) send(api::StoppingReport{});
  act(TellKeptJobs{});
  for (auto& report : state_waits_.told()) act(SendToDaemon{std::move(report)});
  state_waits_.link_up(now_);
  resend();
}

// For a daemon that may have restarted and lost what its predecessor had not made durable.
void AgentState::resend() {
  // A worker's messages come before its exit.
  const bool resync = workers_were_heard_;
  for (const auto& audit : audits_) act(SendToDaemon{audit});
  for (auto& report : outbox_.take()) pass_on(std::move(report));
  for (const auto& [worker, finished] : finished_) {
    act(SendToDaemon{api::FromWorkerReport{.worker = worker, .message = finished}});
  }
  for (const WorkerId worker : history_.unacknowledged) report_again(worker);
  for (auto& [worker, living] : live_workers_) {
    if (lost_.contains(worker)) continue;
    if (living.restartable) take_steps(worker, living.restartable->resend());
    if (!living.heart) continue;
    living.heart->told = false;
    look_at_heart(worker, *living.heart);
  }
  // What the last daemon had read but not made durable is lost; a new `ready` from each worker repairs that.
  if (resync) act(CloseWorkerLinks{});
}

void AgentState::handle(api::AgentRefuse& order) {
  link_.refuse();
  act(CloseLink{"the daemon refused this agent: " + order.why});
}

void AgentState::handle(api::ReportAck& order) {
  for (const WorkerId worker : history_.unacknowledged) {
    if (history_.exits.at(worker).report != order.report) continue;
    finished_.erase(worker);
    std::erase_if(audits_, [&](const api::FromWorkerReport& audit) { return audit.worker == worker; });
    act(RecordAck{worker});
    return history_.confirm(worker);
  }
}

void AgentState::handle(api::ToWorkerOrder& order) {
  const auto found = live_workers_.find(order.worker);
  if (found == live_workers_.end() || lost_.contains(order.worker)) return;
  if (const auto* notice = std::get_if<api::NoticeMessage>(&order.message)) return on_notice(order.worker, *notice);
  if (found->second.restartable) return take_steps(order.worker, found->second.restartable->on_message(order.message));
  act(SendToWorker{order.worker, std::move(order.message)});
}

// The process receives the time at which this agent ends it; only granted time moves it.
void AgentState::on_notice(WorkerId worker, api::NoticeMessage notice) {
  LiveWorker& living = live_workers_.at(worker);
  const Instant by = now_ + Duration::millis(notice.in_ms);
  if (notice.extended_ms > 0) living.granted_until = by;
  const bool puts_off = living.kill_at && living.granted_until && *living.granted_until > *living.kill_at;
  if (puts_off) end_by(worker, living, *living.granted_until);
  if (living.kill_at) notice.in_ms = std::clamp<std::int64_t>((*living.kill_at - now_).count_ms(), 0, notice.in_ms);
  act(SendToWorker{worker, std::move(notice)});
}

// A worker that was asked to end and needs no more time ends now.
void AgentState::on_answer(WorkerId worker, const api::AnswerMessage& answer) {
  const auto found = live_workers_.find(worker);
  const bool ends = found != live_workers_.end() && found->second.kill_at && answer.answer == api::NoticeAnswer::kDone;
  if (ends) end_process(worker, Duration());
}

void AgentState::handle(api::LogRead& order) {
  act(ReadLog{order});
}

// Repeated after each welcome; the newest message counts.
void AgentState::handle(api::ForgetJob& order) {
  if (order.after_s == 0) {
    forget_at_.erase(order.job);
    return act(DropStates{order.job});
  }
  forget_at_[order.job] = now_ + Duration::seconds(order.after_s);
}

void AgentState::handle(api::OfferState& order) {
  act(OfferSavedState{order});
}

void AgentState::handle(api::FetchState& order) {
  take_steps(state_waits_.on(order));
}

void AgentState::handle(api::NoState& order) {
  take_steps(state_waits_.on(order, now_));
}

void AgentState::take_steps(StateWaits::Steps steps) {
  for (StateWaits::Step& step : steps) {
    std::visit(Overloaded{
                   [&](const StateWaits::Ask& ask) { act(AskForState{ask.job, ask.step}); },
                   [&](StateWaits::Fetch& fetch) { act(FetchSavedState{std::move(fetch.from)}); },
                   [&](const StateWaits::Abandon& what) { act(AbandonFetch{what.job}); },
                   [&](StateWaits::Start& what) {
                     send(std::move(what.report));
                     for (auto& order : what.orders) start(std::move(order));
                   },
               },
               step);
  }
}

void AgentState::handle(api::ProbeNode&) {
  probe_.ask();
}

void AgentState::send(api::AgentToDaemon message) {
  if (welcomed()) act(SendToDaemon{std::move(message)});
}

void AgentState::look_at_idleness() {
  const bool idle = times_.exit_when_idle && !welcomed() && live_workers_.empty();
  if (!idle) {
    idle_at_.reset();
  } else if (!idle_at_) {
    idle_at_ = now_ + *times_.exit_when_idle;
  }
}

}  // namespace tidepool::agent
