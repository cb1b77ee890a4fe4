#include "forecast/forward_world.hpp"

#include <algorithm>
#include <cmath>

#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/state_move.hpp"

namespace tidepool::forecast {
namespace {

using core::Job;
using core::JobState;
using core::ResizeMode;
using core::Worker;
using core::WorkerPhase;

constexpr Duration kLeave = Duration::millis(500);             // a worker that is told to, until it is gone
constexpr double kMoveRate = 100.0 * (std::int64_t{1} << 20);  // bytes a second, of a saved state
constexpr Duration kMoveStart = Duration::seconds(1);
constexpr double kStepsMost = 1e15;                                  // keeps counts exact
constexpr Duration kEndMost = Duration::seconds(10 * 365 * 86'400);  // keeps times on the time line

bool restarts(const Job& job) {
  return job.spec.resize == ResizeMode::kRestart;
}

// It has been told to go, or its job has no place for it.
bool goes(const Job& job, const Worker& worker) {
  if (worker.is_gone()) return false;
  if (worker.kill_at) return true;
  return worker.phase == WorkerPhase::kLeaving && (worker.stop_due || restarts(job));
}

// Of a job that stepped before the forecast began: up to when what it has left is known. One that has not reported
// since its newest generation was committed steps since that one's stall.
Instant told_until(const Job& job, Duration stall, Instant now) {
  const Instant steps_since = std::min(now, job.membership.commit.at + stall);
  if (job.progress.reported_at) return std::max(*job.progress.reported_at, steps_since);
  return restarts(job) && !job.spec.work_samples ? job.account.charged_until : steps_since;
}

Duration after_steps(std::int64_t steps, double rate) {
  return std::min(kEndMost, Duration::micros(std::llround(std::min(1e17, static_cast<double>(steps) / rate * 1e6))));
}

}  // namespace

void ForwardWorld::follow(const core::ClusterState& state, JobId id, Instant now) {
  const Job* job = state.find_job(id);
  if (job == nullptr) {
    courses_.erase(id);
    return;
  }
  follow_saved_state(*job, now);
  follow_workers(state, *job, now);
  if (restarts(*job)) {
    follow_programs(state, *job, now);
  } else {
    follow_switch(*job, now);
  }
  follow_course(*job, now);
}

std::optional<Instant> ForwardWorld::next_at() const {
  return heap_.empty() ? std::nullopt : std::optional(heap_.next_at());
}

std::vector<core::Fact> ForwardWorld::take(const core::ClusterState& state, Instant now) {
  const Event event = heap_.pop();
  return std::visit([&](const auto& any) { return happens(state, any, now); }, event);
}

// --- workers ------------------------------------------------------------------------------------

void ForwardWorld::follow_workers(const core::ClusterState& state, const Job& job, Instant now) {
  bool parks = job.membership.parking && !restarts(job);
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    const bool waits = job.recovery.moving && core::awaits(*job.recovery.moving, worker);
    const bool boots = worker.phase == WorkerPhase::kStarting && !worker.is_gone() && !worker.kill_at && !waits;
    if (boots && booting_.insert(id)) {
      heap_.push(std::max(now, worker.started_at + expectations_->boot(job)), core::Fact(core::WorkerReady{id}));
    }
    if (!goes(job, worker) || !leaving_.insert(id)) continue;
    if (parks && worker.stop_due) {
      heap_.push(now + kLeave,
                 core::Fact(core::StateParked{job.id, id, job.membership.generation, course_of(job).step, 0, 0}));
    }
    parks = parks && !worker.stop_due;
    heap_.push(now + kLeave, core::Fact(core::WorkerExited{id, 0, 0, {}}));
  }
}

void ForwardWorld::follow_saved_state(const Job& job, Instant now) {
  const auto& moving = job.recovery.moving;
  if (!moving || !brought_.insert({job.id, moving->step}).second) return;
  const core::SavedState* kept = core::newest_kept(job);
  const double bytes = kept == nullptr ? 0 : static_cast<double>(kept->bytes);
  const Duration took = kMoveStart + Duration::from_seconds(bytes / kMoveRate);
  heap_.push(std::max(now, moving->since + took),
             core::Fact(core::StateBrought{job.id, moving->to, moving->step, 0, took}));
}

ForwardWorld::Facts ForwardWorld::happens(const core::ClusterState& state, const core::Fact& fact, Instant) {
  // A state that has arrived may be moved again.
  if (const auto* brought = std::get_if<core::StateBrought>(&fact)) brought_.erase({brought->job, brought->step});
  if (const auto* exited = std::get_if<core::WorkerExited>(&fact)) {
    leaving_.erase(exited->worker);
    if (state.find_worker(exited->worker) == nullptr) return {};
  }
  return {fact};
}

// --- changes of membership ----------------------------------------------------------------------

void ForwardWorld::follow_switch(const Job& job, Instant now) {
  const bool parks = job.state() == JobState::kSuspending;
  if (parks || core::is_final(job.state()) || job.progress.finished) return halt(job, now);
  if (!core::awaits_switch(job)) return;
  Course& course = course_of(job);
  if (course.awaited == job.membership.generation) return;
  halt(job, now);
  course.awaited = job.membership.generation;
  heap_.push(std::max(now, job.membership.commit.at + expectations_->stall(job)),
             SwitchDue{job.id, job.membership.generation});
}

ForwardWorld::Facts ForwardWorld::happens(const core::ClusterState& state, const SwitchDue& due, Instant now) {
  const Job* job = state.find_job(due.job);
  const bool is_due = job != nullptr && core::awaits_switch(*job) && job->membership.generation == due.generation;
  if (!is_due) return {};
  const Course& course = course_of(*job);
  const double stall_ms = (now - job->membership.commit.at).to_seconds() * 1e3;
  const bool first = job->membership.commit.from_size == 0;
  return {core::GenerationSwitched{
      .job = job->id, .generation = due.generation, .switch_step = course.step + 1, .stall_ms = first ? 0 : stall_ms}};
}

// Every program of the old generation ends, then those of the new one start.
void ForwardWorld::follow_programs(const core::ClusterState& state, const Job& job, Instant now) {
  if (!core::awaits_switch(job)) {
    if (job.state() == JobState::kSuspending || core::is_final(job.state())) halt(job, now);
    return;
  }
  (void)course_of(job);
  halt(job, now);
  const GenerationNumber generation = job.membership.generation;
  const bool launched = job.membership.restart_state.launched == generation;
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->is_gone() || worker->kill_at) continue;
    if (worker->joining < generation && waits_.insert({id, generation}).second) {
      heap_.push(now + (worker->launched > 0 ? kLeave : Duration()), core::Fact(core::WorkerJoining{id, generation}));
    }
    if (!launched || worker->launched >= generation || !runs_.insert({id, generation}).second) continue;
    const Instant runs = job.membership.commit.at + expectations_->restart_stall(job);
    heap_.push(std::max(now, runs), core::Fact(core::ProgramStarted{id, generation}));
  }
}

// --- training -----------------------------------------------------------------------------------

ForwardWorld::Course& ForwardWorld::course_of(const Job& job) {
  Course& course = courses_[job.id];
  if (course.known) return course;
  course.known = true;
  course.step = course.told_step = course.reported = job.progress.step;
  course.told_samples = job.progress.samples;
  const double left = std::ceil(std::min(kStepsMost, expectations_->work(job.id).steps_left));
  course.end_step = course.step + std::max<std::int64_t>(1, static_cast<std::int64_t>(left));
  return course;
}

void ForwardWorld::follow_course(const Job& job, Instant now) {
  const bool steps = job.membership.switched && !job.membership.members.empty() && core::is_active(job.state()) &&
                     !job.progress.finished;
  if (!steps) return;
  const bool is_new = !courses_.contains(job.id);
  Course& course = course_of(job);
  if (course.steps && course.generation == job.membership.generation) return;
  course.since = course.begun = is_new ? told_until(job, expectations_->stall(job), now) : now;
  course.reported_until = course.since;
  course.generation = job.membership.generation;
  course.rate = expectations_->steps_per_second(job.id, job.measurements.slot_type, job.size());
  course.steps = true;
  if (is_new) advance(course, now);
  schedule_report(job, course);
}

void ForwardWorld::advance(Course& course, Instant now) {
  if (!course.steps || now <= course.since) return;
  const double done = (now - course.since).to_seconds() * course.rate;
  // Times are whole microseconds.
  const auto steps = static_cast<std::int64_t>(std::min(kStepsMost, std::floor(done + course.rate * 1e-6 + 1e-9)));
  const std::int64_t counted = std::min(steps, course.end_step - course.step);
  course.step += counted;
  course.since = course.since + after_steps(counted, course.rate);
}

void ForwardWorld::halt(const Job& job, Instant now) {
  if (!courses_.contains(job.id)) return;
  Course& course = courses_.at(job.id);
  if (!course.steps) return;
  advance(course, now);
  Facts told;
  if (!job.progress.finished) add_report(job, course, told);
  for (core::Fact& fact : told) heap_.push(now, std::move(fact));
  course.steps = false;
  ++course.token;
}

// The first report tells that the job has started; the second comes when its size has been measured for long enough.
// Later ones come at half of the time that it has stepped so, or that it has left.
void ForwardWorld::schedule_report(const Job& job, Course& course) {
  const std::int64_t left = course.end_step - course.step;
  const auto steps_in = [&](Duration time) { return static_cast<std::int64_t>(time.to_seconds() * course.rate); };
  const std::int64_t measured = job.spec.scaling.every_steps + 1;
  const std::int64_t since_begun = steps_in(course.since - course.begun);
  std::int64_t steps = std::max(steps_in(report_every_), std::min(since_begun / 2, left / 2));
  if (since_begun < measured) steps = std::max(steps, measured - since_begun);
  if (!job.started_at && !restarts(job)) steps = 1;
  steps = std::clamp<std::int64_t>(steps, 1, std::max<std::int64_t>(1, left));
  heap_.push(course.since + after_steps(steps, course.rate), ReportDue{job.id, ++course.token});
}

void ForwardWorld::add_report(const Job& job, Course& course, Facts& facts) const {
  const std::int64_t steps = course.step - course.reported;
  if (steps <= 0 || (restarts(job) && !job.progress.reported_at)) return;
  const std::int64_t samples = steps * job.spec.batch.global;
  core::StepsMeasured report{
      .job = job.id,
      .generation = course.generation,
      .last_step = course.step,
      .steps = steps,
      .elapsed = std::max(Duration::micros(1), course.since - course.reported_until),
      .samples = samples,
      .loss = job.progress.last_loss,
      .epoch = job.progress.epoch,
      .compute_us = {},
      .samples_total = course.told_samples + (course.step - course.told_step) * job.spec.batch.global,
      .global_batch = job.progress.global_batch,
      .noise_scale = job.progress.noise_scale,
      .shares = job.shares.ordered.number};
  facts.emplace_back(std::move(report));
  course.reported = course.step;
  course.reported_until = course.since;
}

ForwardWorld::Facts ForwardWorld::happens(const core::ClusterState& state, const ReportDue& due, Instant now) {
  const Job* job = state.find_job(due.job);
  if (job == nullptr || !courses_.contains(due.job)) return {};
  Course& course = courses_.at(due.job);
  if (due.token != course.token || !course.steps) return {};
  advance(course, now);
  Facts facts;
  add_report(*job, course, facts);
  if (course.step < course.end_step) {
    schedule_report(*job, course);
    return facts;
  }
  course.steps = false;
  ++course.token;
  if (!restarts(*job)) {
    facts.emplace_back(core::TrainingFinished{job->id, course.step, job->progress.last_loss});
    return facts;
  }
  for (const WorkerId id : job->membership.members) {
    facts.emplace_back(core::ProgramEnded{id, job->membership.generation, 0, 0, {}});
  }
  return facts;
}

}  // namespace tidepool::forecast
