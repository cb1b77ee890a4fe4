#include "core/facts/training/training_facts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/job_facts.hpp"
#include "core/facts/shares.hpp"
#include "core/facts/throughput.hpp"
#include "core/facts/training/parking_facts.hpp"
#include "core/facts/training/straggler_facts.hpp"
#include "core/facts/worker_exit.hpp"
#include "core/state/job_state.hpp"
#include "core/state/ledger.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

// An epoch may last milliseconds: this many sound audits in a row get an event each, then one per this period.
constexpr std::int64_t kAuditBurst = 120;
constexpr Duration kAuditEvery = Duration::millis(500);

bool takes_turn_to_tell(Progress& progress, Instant at) {
  const Instant told_to = std::max(progress.audits_told_to.value_or(at), at);
  if (told_to > at + kAuditEvery * (kAuditBurst - 1)) return false;
  progress.audits_told_to = told_to + kAuditEvery;
  return true;
}

Status check_generation(const Job& job, GenerationNumber generation) {
  if (generation <= job.membership.generation) return ok_status();
  return conflict(job.id.text() + " is at generation " + std::to_string(job.membership.generation) +
                  "; a report of generation " + std::to_string(generation) + " comes from the future");
}

// The report is about the present members.
bool is_current(const Job& job, GenerationNumber generation) {
  return generation == job.membership.generation && !job.membership.members.empty() && is_active(job.state());
}

void record_cost(Job& job, double stall_ms, Instant at) {
  const int before = job.membership.commit.from_size;
  if (before == 0) {  // a start stalls no member
    note_cost(job.measurements.start_cost, job.size(), (at - job.membership.commit.at).to_seconds() * 1e3);
  } else if (job.membership.commit.after_failure) {
    note_cost(job.measurements.failure_cost, job.size(), stall_ms);
  } else if (job.spec.resize == ResizeMode::kRestart) {
    note_cost(job.measurements.restart_cost, job.size(), stall_ms);
  } else {
    note_cost(job.membership.commit.replaces ? job.measurements.replace_cost
              : job.size() < before          ? job.measurements.shrink_cost
                                             : job.measurements.grow_cost,
              job.size(), stall_ms);
  }
}

// The cost of a change of size to the members, in addition to the boots of the new ones.
void book_stall(StateChange& change, Job& job, const GenerationSwitched& fact) {
  const Commit& commit = job.membership.commit;
  const Duration stalled = Duration::micros(static_cast<std::int64_t>(fact.stall_ms * 1e3));
  book_wait(change.state(), job, stalled, commit.after_failure ? Overhead::kLostToFailure : Overhead::kBootAndResize);
  const auto known = job.measurements.sizes.find(commit.from_size);
  if (fact.steps_redone <= 0 || known == job.measurements.sizes.end()) return;
  const double redone_s = known->second.step_seconds * static_cast<double>(fact.steps_redone);
  book_wait(change.state(), job, Duration::micros(static_cast<std::int64_t>(redone_s * 1e6)), Overhead::kLostToFailure);
}

// The slow worker among those that left; none: they left for another reason.
WorkerId slow_among(const ClusterState& state, const std::vector<WorkerId>& left, const std::vector<WorkerId>& came) {
  const IdSet<WorkerId> gone(left.begin(), left.end());
  for (const WorkerId id : came) {
    const Worker* next = state.find_worker(id);
    if (next != nullptr && next->replaced && gone.contains(next->replaced)) return next->replaced;
  }
  return {};
}

// Pairs the first that left with the first that joined, and so on; in a group that left with a slow worker, the slow
// worker is the cause.
void emit_replaced(StateChange& change, const Job& job, const std::vector<WorkerId>& left,
                   const std::vector<WorkerId>& came) {
  const WorkerId slow = slow_among(change.state(), left, came);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const WorkerId by = came[std::min(i, came.size() - 1)];
    const Worker* next = change.state().find_worker(by);
    const bool was_straggler = next != nullptr && next->replaced == left[i];
    nlohmann::json data = {{"worker", left[i].text()}, {"by", by.text()}, {"straggler", was_straggler}};
    if (slow && slow != left[i]) data["because_of"] = slow.text();
    const Worker* last = change.state().find_worker(left[i]);
    change.emit("worker.replaced", job, last == nullptr ? NodeId() : last->node, std::move(data));
  }
}

std::vector<WorkerId> newest_members(const Job& job, std::size_t count) {
  const std::vector<WorkerId>& members = job.membership.members;
  return {members.end() - static_cast<std::ptrdiff_t>(std::min(count, members.size())), members.end()};
}

void emit_replaced(StateChange& change, const Job& job) {
  const Transition& transition = *job.phase.transition();
  if (!transition.replaces) return;
  // After the first switch of a move no further worker joins: all have been there since.
  const bool have_joined = transition.joining_workers.empty();
  const auto& left = transition.leaving_workers;
  emit_replaced(change, job, left, have_joined ? newest_members(job, left.size()) : transition.joining_workers);
}

// From the stepping generation until the next one steps: the last steps before a switch or a parking count.
bool is_outgoing(const Job& job, const StepsMeasured& fact) {
  const bool under_way = is_active(job.state()) || job.state() == JobState::kSuspending;
  return under_way && fact.generation == job.membership.stepping_generation &&
         fact.generation < job.membership.generation && !job.membership.switched && fact.last_step > job.progress.step;
}

// A duplicate report: steps of one generation only increase.
bool is_repeated(const Job& job, const StepsMeasured& fact) {
  return job.membership.switched && job.progress.step >= job.membership.switch_step &&
         fact.last_step <= job.progress.step;
}

void record_progress(const StateChange& change, Job& job, const StepsMeasured& fact) {
  job.progress.step = fact.last_step;
  job.progress.samples = fact.samples_total.value_or(job.progress.samples + fact.samples);
  job.progress.epoch = fact.epoch;
  job.progress.last_loss = fact.loss;
  if (fact.global_batch > 0) job.progress.global_batch = fact.global_batch;
  if (fact.noise_scale) job.progress.noise_scale = fact.noise_scale;
  job.progress.reported_at = change.at();
}

// The members step together at the newest generation. Without a report of the switch its numbers are unknown.
void mark_switched(StateChange& change, Job& job, const GenerationSwitched& fact, bool measured) {
  change.emit("generation.switched", job, switched_data(job, fact, measured));
  const std::int64_t switch_step = fact.switch_step;
  // Reported or not: steps beyond the one it starts from are not done.
  const bool lost = job.membership.commit.from_size == 0 && switch_step >= 1 && switch_step - 1 < job.progress.step;
  // A program that reported its end before has ended, even if its message was delayed.
  if (lost && !job.progress.finished) go_on_from(change, job, {.step = switch_step - 1, .bytes = 0, .path = ""});
  job.membership.switched = true;
  job.progress.late_at.reset();
  book_stepping(job);
  job.membership.stepping_generation = job.membership.generation;
  job.membership.stepping_size = job.size();
  job.membership.switch_step = switch_step;
  job.membership.unused_state = fact.unused;
  job.measurements.steps_since_switch = 0;
  std::vector<WorkerId> left;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = change.worker(id);
    const bool leaves = worker.phase == WorkerPhase::kLeaving && !worker.stop_due && !worker.kill_at;
    const Instant after_grace = change.at() + job.spec.elastic.grace;
    if (leaves) change.worker(id).stop_due = worker.notice ? std::max(after_grace, worker.notice->by) : after_grace;
    const bool first_of_two = job.phase.transition() && !job.phase.transition()->committed;
    if (leaves && first_of_two && job.membership.commit.replaces) left.push_back(id);
  }
  emit_replaced(change, job, left, newest_members(job, left.size()));
  if (job.membership.commit.from_size == 0) {
    if (job.started_at) change.emit("job.resumed", job, {{"size", job.size()}, {"step", job.progress.step}});
  } else {
    job.last_resize_at = change.at();
    job.recovery.cooldown_waived = job.membership.commit.after_failure;
    if (job.membership.commit.from_size != job.size()) {
      change.emit("job.resized", job, {{"from", job.membership.commit.from_size}, {"to", job.size()}});
    }
  }
  const Transition* transition = job.phase.transition();
  if (transition != nullptr && transition->committed) emit_replaced(change, job);
  if (transition == nullptr || transition->committed) become(job, phase::Running{});
}

Status check_report(const Job& job, const StepsMeasured& fact) {
  TP_TRY(check_generation(job, fact.generation));
  const bool shaped = fact.steps >= 1 && fact.last_step >= fact.steps && fact.elapsed > Duration() &&
                      fact.samples >= 0 && fact.shares >= 0;
  if (!shaped) return invalid_argument("a report of " + job.id.text() + " needs steps >= 1 and elapsed time > 0");
  const std::size_t entries = fact.compute_us.size();
  const auto steps = static_cast<std::size_t>(fact.steps);
  const std::size_t ranks = job.membership.members.size();
  const bool is_whole = entries % steps == 0 && entries / steps == ranks;  // their product may be too large
  if (is_current(job, fact.generation) && entries != 0 && !is_whole) {
    return invalid_argument("a report of " + job.id.text() + " has " + std::to_string(entries) + " compute times; of " +
                            std::to_string(fact.steps) + " steps and " + std::to_string(ranks) +
                            " ranks there is one each");
  }
  return ok_status();
}

}  // namespace

Status apply(StateChange& change, const GenerationSwitched& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  TP_TRY(check_generation(**known, fact.generation));
  if (!is_current(**known, fact.generation) || (*known)->membership.switched) return ok_status();
  Job& job = change.job(fact.job);
  record_cost(job, fact.stall_ms, change.at());
  book_stall(change, job, fact);
  mark_switched(change, job, fact, true);
  return ok_status();
}

Status apply(StateChange& change, const StepsMeasured& fact, const StragglerDetectors& detectors) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  TP_TRY(check_report(**known, fact));
  if (is_outgoing(**known, fact)) {
    Job& left = change.job(fact.job);
    record_progress(change, left, fact);
    change.emit("job.progressed", left, progressed_data(left, fact));
    return ok_status();
  }
  if (!is_current(**known, fact.generation) || is_repeated(**known, fact)) return ok_status();
  Job& job = change.job(fact.job);
  // The report of the switch may have been lost with a connection; a job that steps has switched.
  if (!job.membership.switched) {
    const std::int64_t first = fact.last_step - fact.steps + 1;
    mark_switched(change, job, {.job = job.id, .generation = fact.generation, .switch_step = first}, false);
  }
  if (!job.started_at) {
    job.started_at = change.at();
    job.progress.first_loss = fact.loss;
    change.emit("job.started", job, {{"size", job.size()}});
  }
  record_progress(change, job, fact);
  const std::int64_t counted = counted_steps(fact, job.membership.switch_step);
  job.measurements.steps_since_switch += counted;
  if (counted > 0) {
    add_measurement(job.measurements.sizes[job.size()], fact, counted, change.at());
    add_to_size_change(job, fact, counted, change.at());
  }
  if (!job.progress.late_at && ends_soon(job, change.at())) job.progress.late_at = overdue_at(job);
  if (fact.shares == job.shares.ordered.number && job.shares.used != job.shares.ordered) use_told_shares(change, job);
  const auto* detector = detectors.detector_for(job.spec, change.state().straggler_detector);
  // For other shares it is not known here how many samples each member was given.
  if (detector != nullptr && fact.shares == job.shares.used.number) {
    judge_members(change, job, fact, counted, *detector);
  }
  change.emit("job.progressed", job, progressed_data(job, fact));
  return ok_status();
}

Status apply(StateChange& change, const DataEpochAudited& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  if ((*known)->progress.audited_epoch && fact.epoch <= *(*known)->progress.audited_epoch) return ok_status();
  Job& job = change.job(fact.job);
  job.progress.audited_epoch = fact.epoch;
  const bool is_sound = fact.checksum_ok && fact.used == fact.expected;
  if (is_sound && !takes_turn_to_tell(job.progress, change.at())) {
    ++job.progress.audits_untold;
    // A replay of rows of a version that reported each of them gives the same numbers.
    ++change.state().next_event;
    return ok_status();
  }
  const std::int64_t epochs = 1 + (is_sound ? std::exchange(job.progress.audits_untold, 0) : 0);
  change.emit("data.epoch_audited", job,
              {{"epoch", fact.epoch},
               {"expected", fact.expected},
               {"used", fact.used},
               {"checksum_ok", fact.checksum_ok},
               {"epochs", epochs}});
  return ok_status();
}

Status apply(StateChange& change, const TrainingFinished& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  const bool parks = (*known)->state() == JobState::kSuspending;  // it ended before the order to park arrived
  const bool holds_members = !(*known)->membership.members.empty() || parks;
  if ((*known)->progress.finished || !holds_members || is_final((*known)->state())) return ok_status();
  Job& job = change.job(fact.job);
  job.progress.finished = true;
  job.recovery.unconfirmed_exits.clear();
  job.recovery.unconfirmed_since.reset();
  job.progress.step = fact.last_step;
  job.progress.samples = fact.samples_total.value_or(job.progress.samples);
  job.progress.last_loss = fact.loss;
  // The last step came before the switch: workers that were to join by it are listed as members but never stepped.
  const std::vector<WorkerId> late = job.phase.transition() && !job.membership.switched
                                         ? std::move(job.phase.transition()->joining_workers)
                                         : std::vector<WorkerId>();
  drop_transition(job);
  for (const WorkerId id : job.membership.workers) {
    // Members and leaving workers exit on their own; joining workers would not, and are stopped at once.
    const WorkerPhase phase = change.worker(id).phase;
    const bool comes = phase == WorkerPhase::kStarting || phase == WorkerPhase::kReady || contains(late, id);
    mark_leaving(change, id, comes ? std::nullopt : std::optional(change.at() + time_to_finish(job)));
  }
  return ok_status();
}

}  // namespace tidepool::core
