#include "forecast/expectations.hpp"

#include <algorithm>
#include <cmath>

#include "core/state/ended_job.hpp"
#include "core/state/job_kind.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"

namespace tidepool::forecast {
namespace {

// A job of which nothing is known and that has had nothing yet.
constexpr double kUnknownLeastS = 600;
constexpr double kSlowest = 1e-9;  // steps a second
// A program that loads a large library is ready after some seconds, a small one at once.
constexpr Duration kUnknownBoot = Duration::seconds(3);
constexpr std::int64_t kNewest = 32;  // jobs that a mean goes back to, about

bool steps_usefully(const core::Job& job) {
  return policies::cluster::chooses_batch(job);
}

// Samples of the steps that the file tells a built-in trainer to do, where nothing else tells them yet.
std::optional<double> steps_declared(const core::Job& job) {
  if (core::samples_left(job)) return std::nullopt;
  const auto steps = core::steps_in_file(*job.spec.run);
  if (!steps) return std::nullopt;
  const std::int64_t left = std::max<std::int64_t>(0, *steps - job.progress.step);
  return static_cast<double>(left) * static_cast<double>(job.spec.batch.global);
}

}  // namespace

const char* to_text(Basis basis) {
  switch (basis) {
    case Basis::kDeclared: return "declared";
    case Basis::kTold: return "told";
    case Basis::kKin: return "kin";
    case Basis::kUnknown: return "unknown";
  }
  return "unknown";
}

void Expectations::Means::Mean::add(double value) {
  jobs = std::min(jobs + 1, kNewest);
  ms += (value - ms) / static_cast<double>(jobs);
}

void Expectations::Means::add(std::uint64_t kind, std::optional<double> ms) {
  if (!ms) return;
  all_.add(*ms);
  if (kind != 0) by_kind_[kind].add(*ms);
}

Duration Expectations::Means::or_else(std::uint64_t kind, Duration guess) const {
  const auto kin = by_kind_.find(kind);
  const Mean& mean = kin == by_kind_.end() ? all_ : kin->second;
  return mean.jobs == 0 ? guess : Duration::micros(std::llround(mean.ms * 1e3));
}

Expectations::Expectations(const core::ClusterState& state) : state_(&state), known_(state) {
  for (const auto& [id, job] : state.ended) {
    ratios_.tell(*job);
    add(job->kind, job->costs);
  }
  for (const auto& [id, job] : state.jobs) {
    ratios_.tell(*job);
    add(core::kind_of(job->spec), core::costs_of(job->measurements));
  }
}

void Expectations::add(std::uint64_t kind, const core::EndedCosts& costs) {
  boots_.add(kind, costs.boot_ms);
  starts_.add(kind, costs.start_ms);
  grows_.add(kind, costs.grow_ms);
  shrinks_.add(kind, costs.shrink_ms);
  replaces_.add(kind, costs.replace_ms);
  restarts_.add(kind, costs.restart_ms);
}

const Expectations::Work& Expectations::work(JobId job) {
  const auto [known, is_new] = work_.try_emplace(job);
  if (is_new) known->second = work_of(*state_->find_job(job));
  return known->second;
}

Expectations::Work Expectations::work_of(const core::Job& job) {
  const Speed& speed = speed_of(job, job.measurements.slot_type);
  const double batch = static_cast<double>(job.spec.batch.global);
  const auto by_steps = steps_declared(job);
  if (const auto left = by_steps ? by_steps : core::samples_left(job)) {
    const bool is_declared = by_steps || job.spec.work_samples;
    if (speed.is_known()) return {is_declared ? Basis::kDeclared : Basis::kTold, *left / batch};
    const bool has_kin = known_.steps_per_second(job, job.spec.elastic.preferred).has_value();
    return {has_kin ? Basis::kKin : Basis::kUnknown, *left / batch};
  }
  if (speed.is_known()) {
    if (const auto left = known_.samples_left(job, speed, ratios_)) return {Basis::kKin, *left / batch};
  }
  return unknown_work(job);
}

// By the time that it holds slots, at the size that it has or begins with.
Expectations::Work Expectations::unknown_work(const core::Job& job) {
  const int workers = job.size() > 0 ? job.size() : job.spec.elastic.preferred;
  const double slots = static_cast<double>(workers) * job.spec.gpus_per_worker;
  const double rate = rate_of(job, job.measurements.slot_type, workers);
  if (const auto left = known_.slot_seconds_left(job)) return {Basis::kKin, *left / slots * rate};
  const double had_s = job.account.slot_time.to_seconds() / slots;
  return {Basis::kUnknown, std::max(kUnknownLeastS, had_s) * rate};
}

const Expectations::Speed& Expectations::speed_of(const core::Job& job, const std::string& slot_type) {
  const auto known = speeds_.find({job.id, slot_type});
  if (known != speeds_.end()) return known->second;
  const auto made = [&](const core::Job& on_type) {
    const auto expected = ratios_.expected(on_type);
    return expected ? Speed(on_type, *expected) : Speed(on_type);
  };
  if (slot_type == job.measurements.slot_type) return speeds_.try_emplace({job.id, slot_type}, made(job)).first->second;
  core::Job moved = job;
  core::measure_on(moved.measurements, slot_type);
  return speeds_.try_emplace({job.id, slot_type}, made(moved)).first->second;
}

double Expectations::rate_of(const core::Job& job, const std::string& slot_type, int workers) {
  const Speed& speed = speed_of(job, slot_type);
  const policies::cluster::Shape shape{.nodes = 1, .size = workers * job.spec.gpus_per_worker};
  if (!speed.is_known()) {
    if (const auto rate = known_.steps_per_second(job, workers)) return std::max(kSlowest, *rate);
  }
  const double rate = steps_usefully(job) ? speed.goodput(shape) : 1 / speed.step_seconds(shape);
  return std::isfinite(rate) ? std::max(kSlowest, rate) : kSlowest;
}

double Expectations::steps_per_second(JobId job, const std::string& slot_type, int workers) {
  return rate_of(*state_->find_job(job), slot_type, workers);
}

Duration Expectations::boot(const core::Job& job) const {
  if (core::boot_cost_of(job.measurements).count > 0) return core::boot_time(job, core::size_with_joining(job));
  return boots_.or_else(core::kind_of(job.spec), kUnknownBoot);
}

Duration Expectations::mean_of(const core::Job& job, Kind kind, const Means& others) const {
  const Duration own = core::change_stall(job, kind, job.size());
  return core::cost_of(job.measurements, kind).count > 0 ? own : others.or_else(core::kind_of(job.spec), own);
}

Duration Expectations::stall(const core::Job& job) const {
  const core::Commit& commit = job.membership.commit;
  if (commit.from_size == 0) return mean_of(job, &core::TypeRecords::start_cost, starts_);
  if (commit.replaces) return mean_of(job, &core::TypeRecords::replace_cost, replaces_);
  const bool shrinks = job.size() < commit.from_size;
  return shrinks ? mean_of(job, &core::TypeRecords::shrink_cost, shrinks_)
                 : mean_of(job, &core::TypeRecords::grow_cost, grows_);
}

Duration Expectations::restart_stall(const core::Job& job) const {
  if (job.membership.commit.from_size == 0) return mean_of(job, &core::TypeRecords::start_cost, starts_);
  const core::TransitionCost& cost = core::cost_of(job.measurements, &core::TypeRecords::restart_cost);
  const Duration own = core::restart_stall(job, job.size());
  return cost.count > 0 ? own : restarts_.or_else(core::kind_of(job.spec), own);
}

}  // namespace tidepool::forecast
