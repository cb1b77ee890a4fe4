#include "sim/fleet.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/digest.hpp"

namespace tidepool::sim {
namespace {

constexpr int kSigKill = 9;
constexpr double kNoisyStddev = 0.3;                     // noise of a step's compute time on a noisy machine
constexpr Duration kStuckAfter = Duration::seconds(10);  // until an agent says so

bool contains(const std::vector<WorkerId>& list, WorkerId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

Fleet::Fleet(Setup setup)
    : setup_(std::move(setup)), rng_(setup_.seed), nodes_(static_cast<std::size_t>(setup_.cluster.nodes)) {
  for (int node = 0; node < setup_.cluster.nodes; ++node) at(node).pace = usual_pace(node);
}

void Fleet::receive(const Outgoing& message, Instant now) {
  std::visit([&](const auto& any) { take(any, now); }, message);
}

void Fleet::happen(const FleetEvent& event, Instant now) {
  std::visit([&](const auto& any) { on(any, now); }, event);
}

// --- what the daemon says -----------------------------------------------------------------------

void Fleet::take(const StartWorker& start, Instant now) {
  Node& node = at(start.node);
  if (node.processes.contains(start.worker)) return;
  if (const auto ended = node.ended.find(start.worker); ended != node.ended.end()) {
    report_until_heard(start.node, ended->second, now);
    return;
  }
  occupy(start);
  Process process{.job = start.job, .slots = start.slots};
  node.processes[start.worker] = process;
  processes_of_[start.job].emplace(start.node, start.worker);
  note_held(process, 1, now);
  where_[start.worker] = start.node;
  const auto [run, is_new] = runs_.try_emplace(start.job);
  if (is_new) {
    run->second.job = start.job;
    run->second.truth = setup_.truth_of(start.job_name);
    run->second.rng = Rng(Digest().mix(setup_.seed).mix(start.job_name).value());
  }
  const double boot = run->second.truth.boot.to_seconds() * (0.8 + 0.4 * rng_.uniform());
  // A seat waits for its first generation at once; its program boots later.
  setup_.later(run->second.truth.restarts ? now : now + Duration::from_seconds(boot), BootDone{start.worker});
}

// The ghost's books: every worker id has one meaning for ever, and a slot one process at a time.
void Fleet::occupy(const StartWorker& start) {
  const std::tuple meaning{start.job, start.node, start.slots};
  const auto [known, is_new] = meaning_.emplace(start.worker, meaning);
  if (!is_new && known->second != meaning) {
    violations_.push_back(start.worker.text() + " was started twice with different meanings");
  }
  for (const auto& [other, process] : at(start.node).processes) {
    for (const int slot : start.slots) {
      if (std::find(process.slots.begin(), process.slots.end(), slot) == process.slots.end()) continue;
      violations_.push_back("slot " + std::to_string(slot) + " of node-" + std::to_string(start.node + 1) +
                            " was given to " + start.worker.text() + " while " + other.text() + " sits on it");
    }
  }
}

void Fleet::note_held(const Process& process, int sign, Instant now) const {
  if (setup_.held) setup_.held(now, process.job, sign * static_cast<int>(process.slots.size()));
}

// Whoever computes on slower slots takes as much longer as a slow worker.
RankPace Fleet::usual_pace(int node) const {
  if (setup_.kinds.empty()) return {};
  return {.slowdown = 1 / setup_.kinds[static_cast<std::size_t>(node)].speed};
}

void Fleet::take(const StopWorker& stop, Instant now) {
  Process* process = find(stop.worker);
  if (process == nullptr || where_.at(stop.worker) != stop.node) return;
  if (stop.grace <= Duration()) {
    on(ProcessEnds{stop.worker, -1, kSigKill}, now);
    return;
  }
  if (process->ending) return;
  process->ending = true;
  const TrainingRun& run = runs_.at(process->job);
  if (run.truth.restarts && process->runs == 0) return on(ProcessEnds{stop.worker}, now);
  const Duration park = run.truth.park;
  const bool in_time = !process->ignores_notice && !process->stuck && park <= stop.grace;
  setup_.later(now + (in_time ? park : stop.grace),
               in_time ? ProcessEnds{stop.worker} : ProcessEnds{stop.worker, -1, kSigKill});
}

void Fleet::take(const CommitGeneration& commit, Instant now) {
  const auto found = runs_.find(commit.job);
  if (found == runs_.end()) return;
  TrainingRun& run = found->second;
  if (run.truth.restarts) return end_programs(run, commit, now);
  if (commit.number <= run.newest_known) {
    if (commit.number == run.generation) dismiss_leavers(run, now);
    return;
  }
  run.newest_known = commit.number;
  if (commit.park) return park(run, commit, now);
  run.next = commit;
  run.switching = false;
  say_joining(commit, now);
  try_switch(run, now);
}

// Everybody leaves at a step that all reach, or after a failure at once; who does not take part is killed in the end.
void Fleet::park(TrainingRun& run, const CommitGeneration& commit, Instant now) {
  if (!commit.after_failure && !all_present(run.members)) return;
  halt(run, now);
  run.next.reset();
  run.generation = commit.number;
  setup_.later(now + run.truth.park, ParkDone{run.job, ++run.token});
}

void Fleet::on(const ParkDone& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token) return;
  bool written = false;
  for (const WorkerId id : std::vector<WorkerId>(run.members)) {
    const Process* process = find(id);
    if (process == nullptr || process->stuck) continue;
    const core::StateParked parked{.job = run.job, .worker = id, .generation = run.generation, .step = run.step};
    if (!std::exchange(written, true)) report(where_.at(id), parked, now);
    on(ProcessEnds{id}, now);
  }
  run.members.clear();
}

void Fleet::say_joining(const CommitGeneration& commit, Instant now) {
  for (const WorkerId id : commit.members) {
    const Process* process = find(id);
    if (process != nullptr && process->ready && !process->stuck) {
      report(where_.at(id), core::WorkerJoining{id, commit.number}, now);
    }
  }
}

// Nobody of the new generation has stepped before: what they know comes from where it was kept.
void Fleet::tell_restored(const TrainingRun& run, const CommitGeneration& commit, Instant now) {
  const bool known =
      std::any_of(commit.members.begin(), commit.members.end(), [&](WorkerId id) { return find(id)->member_of != 0; });
  if (known || run.step == 0) return;
  report(where_.at(commit.members.front()),
         core::StateRestored{.job = run.job, .generation = commit.number, .step = run.step}, now);
}

void Fleet::on(const StuckSeen& event, Instant now) {
  const Process* process = find(event.worker);
  if (process == nullptr || !process->stuck) return;
  const std::int64_t step = runs_.at(process->job).step;
  report(where_.at(event.worker), core::WorkerStuck{event.worker, step, "computing", kStuckAfter}, now);
}

// All go over at a step that they agree on, which costs nothing here.
void Fleet::take(const ChangeShares& shares, Instant now) {
  const auto found = runs_.find(shares.job);
  if (found == runs_.end()) return;
  TrainingRun& run = found->second;
  const bool newer = std::pair(shares.generation, shares.number) > std::pair(run.told.generation, run.told.number);
  if (!newer) return;
  run.told = shares;
  if (!run.stepping || run.generation != shares.generation) return;
  halt(run, now);
  resume(run, now);
}

// Those of another generation are not for this one, and without a table shares are even.
void Fleet::use_newest_shares(TrainingRun& run, Instant now) {
  const bool newer = run.told.generation == run.generation && run.told.number > run.shares.number;
  if (!newer || run.told.weights.size() != run.members.size()) return;
  run.shares = run.told;
  report(where_.at(run.members.front()),
         core::SharesChanged{
             .job = run.job, .generation = run.generation, .number = run.shares.number, .step = run.step + 1},
         now);
}

void Fleet::take(const AckReport& ack, Instant) {
  at(ack.node).unacknowledged.erase(ack.report);
}

void Fleet::take(const Submitted&, Instant) {}

// --- what happens by itself ---------------------------------------------------------------------

core::WorkerReady Fleet::ready(WorkerId worker, const Process& process) const {
  const GroundTruth& truth = runs_.at(process.job).truth;
  core::WorkerReady fact{.worker = worker};
  if (truth.tells_length) fact.work_samples = truth.work_samples;
  return fact;
}

void Fleet::on(const BootDone& event, Instant now) {
  Process* process = find(event.worker);
  if (process == nullptr || process->ready) return;
  process->ready = true;
  report(where_.at(event.worker), ready(event.worker, *process), now);
  try_switch(runs_.at(process->job), now);
}

void Fleet::on(const ProcessEnds& event, Instant now) {
  const Process* process = find(event.worker);
  if (process == nullptr) return;
  const JobId job = process->job;
  const int index = where_.at(event.worker);
  TrainingRun& run = runs_.at(job);
  if (contains(run.members, event.worker)) halt(run, now);
  if (run.next && contains(run.next->members, event.worker) && run.switching) halt(run, now);
  note_held(*process, -1, now);
  processes_of_[job].erase({index, event.worker});
  at(index).processes.erase(event.worker);
  const core::WorkerExited exited{
      .worker = event.worker, .exit_code = event.signal != 0 ? -1 : event.exit_code, .signal = event.signal};
  at(index).ended[event.worker] = exited;
  report_until_heard(index, exited, now);
}

void Fleet::on(const ReportDue& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token || !run.stepping) return;
  run.advance(now);
  send_steps(run, now);
  if (run.step >= run.total_steps()) {
    finish(run, now);
    return;
  }
  resume(run, now);
}

void Fleet::on(const SwitchDue& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token || !run.switching) return;
  const CommitGeneration commit = *run.next;
  run.next.reset();
  run.switching = false;
  run.finished = false;  // its end may never have been heard; it is told again below
  const bool first = run.generation == 0 || run.members.empty();
  tell_restored(run, commit, now);
  run.generation = commit.number;
  run.members = commit.members;
  run.shares = {};
  for (const WorkerId member : run.members) find(member)->member_of = commit.number;
  const double stall_ms = first ? 0 : (now - run.stalled_since).to_seconds() * 1e3;
  report(where_.at(run.members.front()),
         core::GenerationSwitched{.job = run.job,
                                  .generation = commit.number,
                                  .switch_step = run.step + 1,
                                  .stall_ms = stall_ms,
                                  .steps_redone = commit.after_failure ? 1 : 0},
         now);
  dismiss_leavers(run, now);
  if (run.step >= run.total_steps()) {
    finish(run, now);
  } else {
    resume(run, now);
  }
}

void Fleet::on(const NodeReturns& event, Instant now) {
  Node& node = at(event.node);
  node.reachable = true;
  std::set<JobId> jobs;
  for (const auto& [id, process] : node.processes) jobs.insert(process.job);
  for (const JobId job : jobs) {
    TrainingRun& run = runs_.at(job);
    if (run.next) {
      try_switch(run, now);
    } else if (!run.stepping && !run.finished && run.generation > 0 && all_present(run.members) && all_run(run)) {
      resume(run, now);
    }
  }
}

void Fleet::on(const NodeReclaimed& event, Instant now) {
  at(event.node).on_notice = false;
  if (!at(event.node).reachable) return;  // it broke before
  cut_off(event.node, true, now);
  setup_.later(now + event.lasts, NodeReturns{event.node});
}

void Fleet::on(const NodeRecovers& event, Instant) {
  at(event.node).pace = usual_pace(event.node);
}

void Fleet::break_something(const Fault& fault, Instant now) {
  if (fault.kind == FaultKind::kNodeCrash || fault.kind == FaultKind::kNodeCutOff) {
    const int node = static_cast<int>(fault.which % nodes_.size());
    if (!at(node).reachable) return;
    cut_off(node, fault.kind == FaultKind::kNodeCrash, now);
    setup_.later(now + fault.lasts, NodeReturns{node});
    return;
  }
  if (fault.kind == FaultKind::kNodeSlow || fault.kind == FaultKind::kNodeNoisy) {
    const int node = static_cast<int>(fault.which % nodes_.size());
    at(node).pace =
        fault.kind == FaultKind::kNodeSlow ? RankPace{.slowdown = fault.slowdown} : RankPace{.noise = kNoisyStddev};
    at(node).pace.slowdown *= usual_pace(node).slowdown;
    setup_.later(now + fault.lasts, NodeRecovers{node});
    return;
  }
  if (fault.kind == FaultKind::kNodeReclaim) return give_notice(fault, now);
  std::vector<WorkerId> alive;
  for (const Node& node : nodes_) {
    for (const auto& [id, process] : node.processes) alive.push_back(id);
  }
  if (alive.empty()) return;
  strike(fault, alive[fault.which % alive.size()], now);
}

void Fleet::give_notice(const Fault& fault, Instant now) {
  const int node = static_cast<int>(fault.which % nodes_.size());
  if (!at(node).reachable || at(node).on_notice.value_or(false)) return;
  at(node).on_notice = true;
  setup_.to_daemon(now, node, CordonNode{node});
  setup_.later(now + fault.notice, NodeReclaimed{node, fault.lasts});
}

void Fleet::kill(WorkerId worker, Instant now) {
  if (runs_.at(find(worker)->job).truth.restarts) return program_ends(worker, -1, kSigKill, now);
  on(ProcessEnds{worker, -1, kSigKill}, now);
}

void Fleet::strike(const Fault& fault, WorkerId victim, Instant now) {
  Process& process = *find(victim);
  TrainingRun& run = runs_.at(process.job);
  switch (fault.kind) {
    case FaultKind::kWorkerDeath: kill(victim, now); break;
    case FaultKind::kWorkerSlow: process.slowdown = fault.slowdown; break;
    case FaultKind::kWorkerIgnores: process.ignores_notice = true; break;
    case FaultKind::kWorkerStuck:
      if (run.truth.restarts) break;  // nobody hears of it: a program without a pulse looks as it always does
      process.stuck = true;
      if (contains(run.members, victim) || (run.next && contains(run.next->members, victim))) halt(run, now);
      setup_.later(now + kStuckAfter, StuckSeen{victim});
      break;
    case FaultKind::kTwoDeaths: {
      const std::vector<WorkerId> members = run.members;
      kill(victim, now);
      for (const WorkerId other : members) {
        if (other == victim || find(other) == nullptr) continue;
        kill(other, now);
        break;
      }
      break;
    }
    case FaultKind::kNodeCrash:
    case FaultKind::kNodeCutOff:
    case FaultKind::kNodeReclaim:
    case FaultKind::kNodeSlow:
    case FaultKind::kNodeNoisy: break;
  }
}

void Fleet::cut_off(int index, bool crashed, Instant now) {
  Node& node = at(index);
  std::set<JobId> jobs;
  for (const auto& [id, process] : node.processes) {
    TrainingRun& run = runs_.at(process.job);
    const bool matters = contains(run.members, id) || (run.next && contains(run.next->members, id));
    if (matters) jobs.insert(process.job);
  }
  for (const JobId job : jobs) halt(runs_.at(job), now);
  node.reachable = false;
  if (!crashed) return;
  for (const auto& [id, process] : node.processes) {
    note_held(process, -1, now);
    processes_of_[process.job].erase({index, id});
  }
  node.processes.clear();
  node.ended.clear();
  node.unacknowledged.clear();
}

// --- training -----------------------------------------------------------------------------------

void Fleet::halt(TrainingRun& run, Instant now) {
  ++run.token;
  run.switching = false;
  if (!run.stepping) return;
  run.advance(now);
  send_steps(run, now);
  run.stepping = false;
  run.stalled_since = now;
}

void Fleet::resume(TrainingRun& run, Instant now) {
  use_newest_shares(run, now);
  double slowest = 1;
  for (const RankPace& pace : paces(run)) slowest = std::max(slowest, pace.slowdown);
  run.begin(now, draw_step(run.truth, static_cast<int>(run.members.size()), slowest, run.rng));
  schedule_report(run);
}

void Fleet::schedule_report(TrainingRun& run) {
  const bool own = run.truth.report_every > Duration() && !setup_.compute_times;
  // The very first step is told at once: it is when the job has started.
  const Duration own_every = run.step == 0 ? Duration() : run.truth.report_every;
  const Duration every = own ? own_every : setup_.report_every;
  const std::int64_t steps = run.next_report_steps(every, setup_.report_steps_max);
  setup_.later(run.since + run.step_time * steps, ReportDue{run.job, ++run.token});
}

void Fleet::try_switch(TrainingRun& run, Instant now) {
  if (run.truth.restarts || !run.next || run.switching || !all_present(run.next->members)) return;
  halt(run, now);
  run.switching = true;
  setup_.later(now + run.truth.switch_stall, SwitchDue{run.job, ++run.token});
}

void Fleet::finish(TrainingRun& run, Instant now) {
  ++run.token;
  run.stepping = false;
  run.finished = true;
  if (run.truth.restarts) {
    for (const WorkerId member : std::vector<WorkerId>(run.members)) program_ends(member, 0, 0, now);
    return;
  }
  const int node = where_.at(run.members.front());
  report_until_heard(node,
                     core::TrainingFinished{.job = run.job,
                                            .last_step = run.step,
                                            .loss = run.loss(),
                                            .samples_total = run.step * run.truth.global_batch},
                     now);
  for (const WorkerId member : run.members) setup_.later(now + run.truth.park, ProcessEnds{member});
}

void Fleet::send_steps(TrainingRun& run, Instant now) {
  const auto steps = run.take_report(setup_.compute_times ? paces(run) : std::vector<RankPace>{});
  if (steps && !run.truth.restarts) report(where_.at(run.members.front()), *steps, now);
}

void Fleet::dismiss_leavers(const TrainingRun& run, Instant now) {
  for (const auto& [node, id] : processes_of_[run.job]) {
    const bool leaves = at(node).reachable && find(id)->member_of != 0 && !contains(run.members, id);
    if (leaves) setup_.later(now + run.truth.park, ProcessEnds{id});
  }
}

bool Fleet::all_present(const std::vector<WorkerId>& members) const {
  return std::all_of(members.begin(), members.end(), [&](WorkerId id) {
    const Process* process = find(id);
    return process != nullptr && process->ready && !process->stuck && at(where_.at(id)).reachable;
  });
}

std::vector<RankPace> Fleet::paces(const TrainingRun& run) const {
  std::vector<RankPace> by_rank;
  for (const WorkerId member : run.members) {
    RankPace& pace = by_rank.emplace_back();
    const Process* process = find(member);
    if (process == nullptr) continue;
    pace = at(where_.at(member)).pace;
    pace.slowdown *= process->slowdown;
  }
  const auto& weights = run.shares.weights;
  if (weights.size() != by_rank.size()) return by_rank;
  const auto mean = static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::int64_t{0})) /
                    static_cast<double>(weights.size());
  for (std::size_t rank = 0; rank < weights.size(); ++rank) {
    by_rank[rank].slowdown *= static_cast<double>(weights[rank]) / mean;
  }
  return by_rank;
}

// --- links --------------------------------------------------------------------------------------

Hello Fleet::hello(int node) const {
  std::set<WorkerId> running;
  for (const auto& [id, process] : at(node).processes) running.insert(id);
  for (const auto& [number, fact] : at(node).unacknowledged) {
    if (const auto* exited = std::get_if<core::WorkerExited>(&fact)) running.insert(exited->worker);
  }
  return {.node = node, .running = {running.begin(), running.end()}};
}

void Fleet::repeat(int index, Instant now) {
  const Node& node = at(index);
  if (node.on_notice) setup_.to_daemon(now, index, CordonNode{index, *node.on_notice});
  for (const auto& [id, process] : node.processes) {
    if (runs_.at(process.job).truth.restarts) {
      say_where_it_stands(id, now);
      continue;
    }
    if (process.ready && process.member_of == 0) report(index, ready(id, process), now);
    if (process.stuck) report(index, core::WorkerStuck{id, 0, "computing", kStuckAfter}, now);
    const TrainingRun& run = runs_.at(process.job);
    const bool joins = run.next && contains(run.next->members, id) && process.ready && !process.stuck;
    if (joins) report(index, core::WorkerJoining{id, run.next->number}, now);
    if (!run.stepping || run.members.front() != id) continue;
    report(index, core::GenerationSwitched{.job = run.job, .generation = run.generation, .switch_step = run.step + 1},
           now);
  }
  for (const auto& [number, fact] : node.unacknowledged) {
    setup_.to_daemon(now, index, AgentReport{.node = index, .fact = fact, .report = number});
  }
}

void Fleet::report(int node, core::Fact fact, Instant now) {
  if (at(node).reachable) setup_.to_daemon(now, node, AgentReport{.node = node, .fact = std::move(fact)});
}

void Fleet::report_until_heard(int node, core::Fact fact, Instant now) {
  const std::uint64_t number = next_report_++;
  at(node).unacknowledged[number] = fact;
  if (at(node).reachable) {
    setup_.to_daemon(now, node, AgentReport{.node = node, .fact = std::move(fact), .report = number});
  }
}

bool Fleet::quiet() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
    return node.processes.empty() && (node.unacknowledged.empty() || !node.reachable);
  });
}

std::int64_t Fleet::steps_done(JobId job) const {
  const auto run = runs_.find(job);
  return run == runs_.end() ? 0 : run->second.step;
}

Fleet::Process* Fleet::find(WorkerId worker) {
  const auto place = where_.find(worker);
  if (place == where_.end()) return nullptr;
  const auto process = at(place->second).processes.find(worker);
  return process == at(place->second).processes.end() ? nullptr : &process->second;
}

const Fleet::Process* Fleet::find(WorkerId worker) const {
  const auto place = where_.find(worker);
  if (place == where_.end()) return nullptr;
  const auto process = at(place->second).processes.find(worker);
  return process == at(place->second).processes.end() ? nullptr : &process->second;
}

}  // namespace tidepool::sim
