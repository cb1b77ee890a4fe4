#include "sim/simulator.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/json.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/row_texts.hpp"
#include "core/state/account.hpp"

namespace tidepool::sim {
namespace {

// A due time that has come without a change must not stop the clock.
constexpr Duration kWakeAgain = Duration::millis(100);
constexpr std::size_t kViolationsKept = 20;

}  // namespace

void JobResult::hold(double at_s, int slots) {
  if (held.empty() || held.back().at_s < at_s) {
    held.push_back({at_s, slots});
  } else {
    held.back().slots = slots;
  }
}

Simulator::Simulator(SimSetup setup)
    : setup_(std::move(setup)),
      daemon_(make_daemon()),
      fleet_(fleet_setup()),
      provider_(make_provider()),
      links_(static_cast<std::size_t>(setup_.cluster.nodes)) {
  Rng fault_rng = Rng(setup_.seed).fork();
  faults_ = draw_faults(setup_.faults, fault_rng);
  faults_.insert(faults_.end(), setup_.more_faults.begin(), setup_.more_faults.end());
  for (std::size_t i = 0; i < setup_.workload.jobs.size(); ++i) {
    core::JobSpec& spec = setup_.workload.jobs[i].spec;
    const bool is_new = job_of_name_.emplace(spec.name, i).second;
    TP_CHECK(is_new, "the names in a workload are unique");
    // Most traces do not tell which jobs run the same program: then none do.
    if (spec.run->trainer.empty() && spec.run->command.empty()) {
      spec.run = core::RunSpec{.command = {"simulated", spec.name}};
    }
    heap_.push(Instant() + setup_.workload.jobs[i].arrives, Arrives{i});
  }
  for (std::size_t i = 0; i < faults_.size(); ++i) heap_.push(Instant() + faults_[i].at, FaultStrikes{i});
  for (std::size_t i = 0; i < setup_.acts.size(); ++i) heap_.push(Instant() + setup_.acts[i].at, UserActs{i});
  fleet_.boot(now_);
  clients_.up = true;
}

std::unique_ptr<Daemon> Simulator::make_daemon() {
  DaemonParts ground{.parts = setup_.parts,
                     .on_decision = [this](const core::Decision& decision) { note_decision(decision); },
                     .on_event = setup_.on_event,
                     .ask_file = setup_.file ? setup_.file->asker(setup_.parts()) : AskFile()};
  if (setup_.daemon) return setup_.daemon(ground);
  return std::make_unique<SimulatedDaemon>(SimulatedDaemon::Setup{.ground = std::move(ground),
                                                                  .journaled = static_cast<bool>(setup_.crash_plan),
                                                                  .records_per_snapshot = setup_.records_per_snapshot,
                                                                  .crash_plan = setup_.crash_plan,
                                                                  .stopwatch_ns = setup_.stopwatch_ns,
                                                                  .bug = setup_.bug});
}

Fleet::Setup Simulator::fleet_setup() {
  constexpr std::int64_t kStepsOfReport = 64;  // as the worker protocol has it; only compute times are that large
  return {.cluster = setup_.cluster,
          .kinds = setup_.kinds,
          .seed = setup_.seed,
          .report_every = setup_.report_every,
          .report_steps_max = setup_.compute_times ? kStepsOfReport : std::int64_t{1} << 40U,
          .compute_times = setup_.compute_times,
          .state_rate = setup_.state_rate,
          .truth_of = [this](const std::string& name) -> const GroundTruth& {
            return setup_.workload.jobs[job_of_name_.at(name)].truth;
          },
          .later = [this](Instant at, FleetEvent event) { heap_.push(at, std::move(event)); },
          .to_daemon = [this](int node, Incoming message) { send_up(node, std::move(message)); },
          .open_link = [this](int node) { want_link(node); },
          .close_link = [this](int node) { disconnect(node); },
          .held = [this](Instant now, JobId job, int slots) { note_held(job, slots, now); }};
}

SimResult Simulator::run() {
  begin_pools();
  set_tenants();
  activate_file();
  while (!heap_.empty() && violations_.size() < kViolationsKept) {
    const Instant at = heap_.next_at();
    if (at > Instant() + setup_.limit) {
      cut_off_ = true;
      now_ = Instant() + setup_.limit;
      break;
    }
    now_ = at;
    handle(heap_.pop());
    if (all_done()) break;
  }
  return result();
}

// Once more in each life of the daemon: it may have ended before they were durable.
void Simulator::set_tenants() {
  if (!setup_.tenants.empty()) feed({SetTenants{setup_.tenants}});
}

// At each start, as the daemon does: refused where it is active already, which is what was wanted.
void Simulator::activate_file() {
  if (setup_.file && daemon_->alive()) feed({ActivateFile{setup_.file->file}});
}

void Simulator::handle(Event event) {
  std::visit([&](auto&& any) { on(std::forward<decltype(any)>(any)); }, std::move(event));
}

Simulator::Link& Simulator::link(int node) {
  return node < 0 ? clients_ : links_[static_cast<std::size_t>(node)];
}

// --- events -------------------------------------------------------------------------------------

void Simulator::on(const Arrives& event) {
  arrived_.insert(event.job);
  submit(event.job);
}

void Simulator::submit(std::size_t job) {
  const auto& spec = setup_.workload.jobs[job].spec;
  send_up(-1, Submit{.key = spec.name, .spec = spec});
}

void Simulator::on(ToDaemon event) {
  std::vector<Incoming> batch;
  const auto take = [&](ToDaemon message) {
    if (daemon_->alive() && message.link == link(message.node).number) batch.push_back(std::move(message.message));
  };
  take(std::move(event));
  // What arrives together is journaled together.
  while (!heap_.empty() && heap_.next_at() == now_ && std::holds_alternative<ToDaemon>(heap_.next())) {
    take(std::get<ToDaemon>(heap_.pop()));
  }
  if (!batch.empty()) feed(batch);
}

void Simulator::on(ToWorld event) {
  if (event.link == link(event.node).number) fleet_.receive(event.node, std::move(event.message), now_);
}

void Simulator::on(const FleetEvent& event) {
  fleet_.happen(event, now_);
  if (const auto* returned = std::get_if<NodeReturns>(&event)) connect_if_wanted(returned->node);
}

void Simulator::on(const FaultStrikes& event) {
  ++faults_struck_;
  fleet_.break_something(faults_[event.fault], now_);
  follow_reachability();
}

void Simulator::follow_reachability() {
  for (int node = 0; node < fleet_.nodes(); ++node) lose_link_unless_reachable(node);
}

void Simulator::lose_link_unless_reachable(int node) {
  if (!link(node).up || fleet_.reachable(node)) return;
  disconnect(node);
  if (daemon_->alive()) heap_.push(now_ + setup_.patience, PatienceEnds{node, link(node).number});
}

void Simulator::on(const UserActs& event) {
  const UserAct& act = setup_.acts[event.act];
  using Kind = UserAct::Kind;
  if (act.kind == Kind::kCordon || act.kind == Kind::kUncordon) {
    return send_up(-1, CordonNode{act.node, act.kind == Kind::kCordon});
  }
  const auto known = acknowledged_.find(setup_.workload.jobs[act.job].spec.name);
  if (known == acknowledged_.end()) return;
  const JobId job = known->second;
  switch (act.kind) {
    case Kind::kResize: return send_up(-1, UserWish(core::JobResizeRequested{job, act.size}));
    case Kind::kSuspend: return send_up(-1, UserWish(core::JobSuspendRequested{job}));
    case Kind::kResume: return send_up(-1, UserWish(core::JobResumeRequested{job}));
    default: return send_up(-1, UserWish(core::JobCancelRequested{job}));
  }
}

void Simulator::on(const DaemonStarts&) {
  if (const Status status = daemon_->recover(); !status.ok()) {
    violations_.push_back("recovery failed: " + status.error().message);
    return;
  }
  audit_recovery();
  ++clients_.number;
  clients_.up = true;
  begin_pools();
  set_tenants();
  activate_file();
  if (!daemon_->alive()) return;
  for (int node = 0; node < fleet_.nodes(); ++node) {
    if (fleet_.reachable(node)) {
      connect_if_wanted(node);
    } else {
      heap_.push(now_ + setup_.patience, PatienceEnds{node, link(node).number});
    }
  }
  for (const std::size_t job : arrived_) {
    if (!acknowledged_.contains(setup_.workload.jobs[job].spec.name)) submit(job);
  }
  schedule_wake();
}

void Simulator::on(const DaemonWakes&) {
  if (!daemon_->alive() || wake_at_ != now_) return;
  wake_at_.reset();
  feed({});
}

void Simulator::on(const PatienceEnds& event) {
  if (!daemon_->alive() || event.link != link(event.node).number || is_superseded(event.node)) return;
  feed({AgentSilent{event.node, fleet_.name(event.node)}});
}

// --- the daemon's links -------------------------------------------------------------------------

void Simulator::feed(const std::vector<Incoming>& batch) {
  dispatch(daemon_->receive(batch, now_));
  if (daemon_->alive()) {
    if (provider_) provider_->look(daemon_->state(), now_);
    schedule_wake();
    return;
  }
  ++crashes_;
  wake_at_.reset();
  if (provider_) provider_->end_life();
  for (int node = 0; node < fleet_.nodes(); ++node) disconnect(node);
  ++clients_.number;
  clients_.up = false;
  heap_.push(now_ + setup_.daemon_restart, DaemonStarts{});
}

void Simulator::dispatch(std::vector<Outgoing> messages) {
  for (Outgoing& message : messages) {
    // What a client has been told, it has been told, whatever happens to the daemon next.
    if (const auto* answer = std::get_if<Submitted>(&message)) {
      acknowledged_[answer->key] = answer->job;
      continue;
    }
    auto& order = std::get<ToNode>(message);
    Link& down = link(order.node);
    // Simulated nodes have no devices to measure and no states on disk.
    const bool is_idle =
        std::holds_alternative<api::ProbeNode>(order.message) || std::holds_alternative<api::ForgetJob>(order.message);
    if (is_idle) continue;
    const bool greets = std::holds_alternative<api::AgentWelcome>(order.message) ||
                        std::holds_alternative<api::AgentRefuse>(order.message);
    down.greeted = down.greeted || greets;
    if (!down.up || !down.greeted) continue;
    heap_.push(arrival(order.node, down.last_down), ToWorld{order.node, down.number, std::move(order.message)});
  }
}

void Simulator::want_link(int node) {
  link(node).wanted = true;
  connect_if_wanted(node);
}

// An attempt to connect succeeds as soon as daemon and node can be reached.
void Simulator::connect_if_wanted(int node) {
  Link& up = link(node);
  if (!up.wanted || !daemon_->alive() || !fleet_.reachable(node)) return;
  ++up.number;
  up.up = true;
  up.wanted = false;
  up.greeted = false;
  fleet_.link_opened(node, now_);
}

void Simulator::disconnect(int node) {
  Link& down = link(node);
  ++down.number;
  if (std::exchange(down.up, false)) fleet_.link_closed(node, now_);
}

void Simulator::send_up(int node, Incoming message) {
  Link& up = link(node);
  if (up.up) heap_.push(arrival(node, up.last_up), ToDaemon{node, up.number, std::move(message)});
}

// How long it takes depends on when it is sent, and not on what else has been sent before.
Instant Simulator::arrival(int node, Instant& last) const {
  Duration delay = setup_.latency;
  if (setup_.latency_jitter > Duration()) {
    const auto sent_at = static_cast<std::uint64_t>(now_.count_us());
    Rng rng(Digest().mix(setup_.seed).mix(static_cast<std::uint64_t>(node)).mix(sent_at).value());
    delay += Duration::micros(rng.between(0, setup_.latency_jitter.count_us()));
  }
  last = std::max(last, now_ + delay);
  return last;
}

void Simulator::schedule_wake() {
  const auto due = daemon_->next_due();
  if (!due) return;
  const Instant at = std::max(*due, now_ + kWakeAgain);
  if (wake_at_ && *wake_at_ <= at) return;
  wake_at_ = at;
  heap_.push(at, DaemonWakes{});
}

// --- books --------------------------------------------------------------------------------------

void Simulator::note_decision(const core::Decision& decision) {
  if (!decided_.insert(decision.id).second) violations_.push_back(decision.id.text() + " was carried out twice");
  digest_.mix(core::decision_text(decision));
  if (setup_.keep_decisions) decision_lines_.push_back(canonical_json(core::to_json(decision)));
  for (const auto& planned : decision.plan) {
    JobResult& row = counts_[core::job_of(planned.intent)];
    const bool grows = std::holds_alternative<core::GrowIntent>(planned.intent);
    const bool shrinks = std::holds_alternative<core::ShrinkIntent>(planned.intent);
    row.resizes += grows || shrinks ? 1 : 0;
    row.preemptions += std::holds_alternative<core::PreemptIntent>(planned.intent) ? 1 : 0;
  }
}

void Simulator::note_held(JobId job, int slots, Instant now) {
  JobResult& row = counts_[job];
  row.hold((now - Instant()).to_seconds(), (row.held.empty() ? 0 : row.held.back().slots) + slots);
}

void Simulator::audit_recovery() {
  for (const auto& [name, id] : acknowledged_) {
    const auto job = daemon_->job(id);
    if (job == nullptr || job->spec.name != name) {
      violations_.push_back("the client was told that \"" + name + "\" is " + id.text() + "; after recovery it is not");
    }
  }
}

bool Simulator::all_done() const {
  if (!daemon_->alive() || arrived_.size() != setup_.workload.jobs.size()) return false;
  const auto& state = daemon_->state();
  if (!state.workers.empty() || acknowledged_.size() != arrived_.size() || !fleet_.quiet()) return false;
  if (provider_ && !provider_->at_rest(state)) return false;
  return std::all_of(state.jobs.begin(), state.jobs.end(),
                     [](const auto& entry) { return core::is_final(entry.second->state()); });
}

SimResult Simulator::result() {
  SimResult result;
  result.complete = all_done();
  result.cut_off = cut_off_;
  result.end = now_ - Instant();
  if (provider_) result.nodes = provider_->lives(now_);
  result.decisions = static_cast<std::int64_t>(decided_.size());
  Daemon::Books books = daemon_->books();
  result.decide_ns = std::move(books.decide_ns);
  result.decision_lines = std::move(decision_lines_);
  result.digest = digest_.value();
  result.journal_writes = books.journal_writes;
  result.crashes = crashes_;
  result.faults = faults_struck_;
  result.violations = std::move(violations_);
  result.violations.insert(result.violations.end(), fleet_.violations().begin(), fleet_.violations().end());
  if (books.invalid_decision) {
    result.violations.push_back("the validator refused a decision: " + *books.invalid_decision);
  }
  result.refused = std::move(books.refused);
  if (daemon_->alive()) result.state = daemon_->state();
  for (const SimJob& job : setup_.workload.jobs) {
    JobResult row{.name = job.spec.name, .application = job.application, .tenant = job.spec.tenant};
    row.submitted_s = job.arrives.to_seconds();
    if (job.spec.deadline) row.deadline_s = (job.arrives + *job.spec.deadline).to_seconds();
    row.steps_wanted = steps_of(job.truth);
    const auto known = acknowledged_.find(row.name);
    const auto found = known == acknowledged_.end() || !daemon_->alive() ? nullptr : daemon_->job(known->second);
    if (found != nullptr) {
      result.jobs.emplace(found->id, found);
      JobResult& counted = counts_[found->id];
      row.id = found->id;
      row.state = found->state();
      if (found->state() == core::JobState::kFailed) row.failure = found->recovery.last_error;
      if (found->started_at) row.started_s = (*found->started_at - Instant()).to_seconds();
      if (found->phase.ended_at()) row.finished_s = (*found->phase.ended_at() - Instant()).to_seconds();
      row.slot_seconds = core::account_at(daemon_->state(), *found, now_).slot_time.to_seconds();  // to a cut, too
      row.resizes = counted.resizes;
      row.preemptions = counted.preemptions;
      row.held = std::move(counted.held);
      row.steps = fleet_.steps_done(found->id);
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace tidepool::sim
