// What goes on in the workers of a job that know of generations: they hear of a new one, go over to it together, step,
// report, keep their state and leave. What one of them knows it knows from its own agent alone.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/overloaded.hpp"
#include "core/state/membership.hpp"
#include "sim/fleet.hpp"

namespace tidepool::sim {
namespace {

using core::contains;

}  // namespace

// --- what workers hear --------------------------------------------------------------------------

// A process that still boots has no link yet, and one that hangs reads nothing.
void Fleet::on_message(WorkerId worker, const api::ToWorker& message, Instant now) {
  const Process* process = find(worker);
  if (process == nullptr || !process->ready || process->stuck) return;
  const JobId job = process->job;
  std::visit(Overloaded{
                 [&](const api::GenerationMessage& said) { on_generation(worker, said, now); },
                 [&](const api::SharesMessage& said) { on_shares(job, said, now); },
                 // Modelled workers find each other, and the cost of checkpoints is not modelled.
                 [](const api::AddressesMessage&) {},
                 [](const api::CheckpointOrder&) {},
                 // They leave as soon as they can, and answer nothing.
                 [](const api::NoticeMessage&) {},
             },
             message);
}

void Fleet::on_generation(WorkerId worker, const api::GenerationMessage& message, Instant now) {
  Process& process = *find(worker);
  TrainingRun& run = runs_.at(process.job);
  const bool is_news = message.number > process.heard;
  process.heard = std::max(process.heard, message.number);
  if (message.number == run.generation) return dismiss_leaving_workers(run, now);
  if (!is_news || message.number < run.newest_known) return;
  if (message.number > run.newest_known) {
    run.newest_known = message.number;
    run.next = message;
    run.switching = false;
  }
  send_joining(worker, message, now);
  if (run.next) move_on(run, now);
}

// All go over at a step that they agree on, which costs nothing here.
void Fleet::on_shares(JobId job, const api::SharesMessage& shares, Instant now) {
  TrainingRun& run = runs_.at(job);
  const bool newer = std::pair(shares.generation, shares.number) > std::pair(run.told.generation, run.told.number);
  if (!newer) return;
  run.told = shares;
  if (!run.stepping || run.generation != shares.generation) return;
  halt(run, now);
  resume(run, now);
}

// --- what workers say ---------------------------------------------------------------------------

api::ReadyMessage Fleet::ready(const Process& process) const {
  const GroundTruth& truth = runs_.at(process.job).truth;
  api::ReadyMessage message{.generation = process.member_of};
  if (truth.tells_length) message.work_samples = truth.work_samples;
  return message;
}

void Fleet::send_joining(WorkerId worker, const api::GenerationMessage& message, Instant now) {
  const auto self = std::find(message.members.begin(), message.members.end(), worker);
  if (self == message.members.end()) return;
  const auto rank = static_cast<int>(self - message.members.begin());
  say(worker, api::AddressMessage{message.number, rank, worker.text()}, now);
}

void Fleet::send_position(WorkerId worker, Instant now) {
  const Process& process = *find(worker);
  const TrainingRun& run = runs_.at(process.job);
  say(worker, ready(process), now);
  if (run.next && process.heard == run.next->number) send_joining(worker, *run.next, now);
  if (!run.stepping || run.members.front() != worker) return;
  say(worker, api::SwitchedMessage{.generation = run.generation, .switch_step = run.step}, now);
}

// No member of the new generation has stepped before: their state comes from where it was kept.
void Fleet::report_restored(const TrainingRun& run, const api::GenerationMessage& commit, Instant now) {
  const bool known =
      std::any_of(commit.members.begin(), commit.members.end(), [&](WorkerId id) { return find(id)->member_of != 0; });
  if (known || run.step == 0) return;
  say(commit.members.front(), api::RestoredMessage{.generation = commit.number, .step = run.step}, now);
}

// Those of another generation are not for this one, and without a table shares are even.
void Fleet::use_newest_shares(TrainingRun& run, Instant now) {
  const bool newer = run.told.generation == run.generation && run.told.number > run.shares.number;
  if (!newer || run.told.weights.size() != run.members.size()) return;
  run.shares = run.told;
  say(run.members.front(),
      api::RebalancedMessage{.generation = run.generation, .number = run.shares.number, .step = run.step}, now);
}

void Fleet::send_steps(TrainingRun& run, Instant now) {
  auto steps = run.take_report(setup_.compute_times ? paces(run) : std::vector<RankPace>{});
  if (steps && !run.truth.restarts) say(run.members.front(), *std::move(steps), now);
}

// --- what happens by itself ---------------------------------------------------------------------

void Fleet::on(const BootDone& event, Instant now) {
  Process* process = find(event.worker);
  if (process == nullptr || process->ready) return;
  process->ready = true;
  if (!process->stuck) say(event.worker, ready(*process), now);
}

void Fleet::on(const ReportDue& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token || !run.stepping) return;
  run.advance(now);
  send_steps(run, now);
  if (run.is_done()) {
    finish(run, now);
    return;
  }
  resume(run, now);
}

void Fleet::on(const SwitchDue& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token || !run.switching) return;
  const api::GenerationMessage commit = *run.next;
  run.next.reset();
  run.switching = false;
  run.finished = false;  // its end may never have been heard; it is told again below
  const bool first = run.generation == 0 || run.members.empty();
  restore(run, commit);
  report_restored(run, commit, now);
  run.generation = commit.number;
  run.members = commit.members;
  run.shares = {};
  for (const WorkerId member : run.members) find(member)->member_of = commit.number;
  const double stall_ms = first ? 0 : (now - run.stalled_since).to_seconds() * 1e3;
  say(run.members.front(),
      api::SwitchedMessage{.generation = commit.number,
                           .switch_step = run.step,
                           .stall_ms = stall_ms,
                           .steps_redone = commit.after_failure ? 1 : 0},
      now);
  dismiss_leaving_workers(run, now);
  if (run.is_done()) {
    finish(run, now);
  } else {
    resume(run, now);
  }
}

void Fleet::on(const ParkDone& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token) return;
  bool written = false;
  for (const WorkerId id : std::vector<WorkerId>(run.members)) {
    const Process* process = find(id);
    if (process == nullptr || process->stuck) continue;
    if (!std::exchange(written, true)) {
      keep_state(run, id);
      const std::int64_t bytes = setup_.state_rate > 0 ? kStateBytes : 0;
      say(id, api::ParkedMessage{.generation = run.generation, .step = run.step, .bytes = bytes}, now);
    }
    on(ProcessEnds{id}, now);
  }
  run.members.clear();
}

// --- training -----------------------------------------------------------------------------------

void Fleet::move_on(TrainingRun& run, Instant now) {
  if (run.next->park) {
    try_park(run, now);
  } else {
    try_switch(run, now);
  }
}

// All leave at a step that each reaches, or after a failure at once; a worker that takes no part is killed in the end.
void Fleet::try_park(TrainingRun& run, Instant now) {
  const bool together = run.next->after_failure || all_present(run.members);
  if (!together || !all_know_of(run.members, run.next->number)) return;
  halt(run, now);
  run.generation = run.next->number;
  run.next.reset();
  setup_.later(now + run.truth.park, ParkDone{run.job, ++run.token});
}

void Fleet::try_switch(TrainingRun& run, Instant now) {
  const bool goes =
      !run.switching && all_present(run.next->members) && all_know_of(run.next->members, run.next->number);
  if (!goes) return;
  halt(run, now);
  run.switching = true;
  // Those that leave have done their last step and wait for no other (LiveSession::leave_for_good).
  for (const WorkerId member : run.members) {
    if (!is_present(member) || contains(run.next->members, member)) continue;
    setup_.later(now + run.truth.park, ProcessEnds{member});
  }
  setup_.later(now + run.truth.switch_stall, SwitchDue{run.job, ++run.token});
}

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
  double slowest = 0;  // below 1 where all members are on slots that are faster than the truth's
  for (const RankPace& pace : paces(run)) slowest = std::max(slowest, pace.slowdown);
  run.begin(now, run.next_step_time(workers_by_node(run), slowest));
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

void Fleet::finish(TrainingRun& run, Instant now) {
  ++run.token;
  run.stepping = false;
  run.finished = true;
  if (run.truth.restarts) {
    for (const WorkerId member : std::vector<WorkerId>(run.members)) program_ends(member, 0, 0, now);
    return;
  }
  say(run.members.front(),
      api::FinishedMessage{.last_step = run.step, .loss = run.loss(), .samples_total = run.samples_total()}, now);
  for (const WorkerId member : run.members) setup_.later(now + run.truth.park, ProcessEnds{member});
}

// A worker that hangs does not leave: it has to be killed.
void Fleet::dismiss_leaving_workers(const TrainingRun& run, Instant now) {
  for (const auto& [node, id] : processes_of_[run.job]) {
    const Process& process = *find(id);
    const bool leaves =
        is_present(id) && process.member_of != 0 && process.heard >= run.generation && !contains(run.members, id);
    if (leaves) setup_.later(now + run.truth.park, ProcessEnds{id});
  }
}

bool Fleet::is_present(WorkerId worker) const {
  const Process* process = find(worker);
  return process != nullptr && process->ready && !process->stuck && at(where_.at(worker)).reachable;
}

bool Fleet::all_present(const std::vector<WorkerId>& members) const {
  return std::all_of(members.begin(), members.end(), [&](WorkerId id) { return is_present(id); });
}

bool Fleet::all_know_of(const std::vector<WorkerId>& members, GenerationNumber number) const {
  return std::all_of(members.begin(), members.end(),
                     [&](WorkerId id) { return !is_present(id) || find(id)->heard >= number; });
}

// In the order in which the ranks come to them.
std::vector<int> Fleet::workers_by_node(const TrainingRun& run) const {
  std::vector<std::pair<int, int>> counts;
  for (const WorkerId member : run.members) {
    const int node = where_.at(member);
    const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == node; });
    if (known == counts.end()) {
      counts.emplace_back(node, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<int> workers;
  for (const auto& [node, count] : counts) workers.push_back(count);
  return workers;
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

}  // namespace tidepool::sim
