#include "policies/engine/job_speed.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::policies::cluster {
bool was_measured(const core::SizeRecord& record) {
  return record.steps > 0 && record.samples_per_second > 0 && record.step_seconds > 0;
}

bool chooses_batch(const core::Job& job) {
  return job.spec.batch.on_resize == core::OnResize::kCallback && job.progress.noise_scale;
}

bool reports_nothing(const core::Job& job) {
  return job.spec.resize == core::ResizeMode::kRestart && !job.progress.reported_at;
}

namespace {

// What is expected before two sizes were measured: half of a tenth of the work of a step does not run side by side, so
// that 2, 4, 8 workers are 1.9, 3.5, 5.9 times as fast as one.
constexpr double kPriorSigma = 0.05;

using Sizes = JobSpeed::Sizes;

// Null: none was measured.
const Sizes::value_type* newest_of(const Sizes& sizes) {
  const Sizes::value_type* newest = nullptr;
  for (const auto& entry : sizes) {
    if (!was_measured(entry.second)) continue;
    if (newest == nullptr || entry.second.measured_at > newest->second.measured_at) newest = &entry;
  }
  return newest;
}

// As noisy as its declared batch is large, which is a cautious guess, before it has told its noise.
std::optional<double> noise_of(const core::Job& job, bool has_kin) {
  const bool chooses = job.spec.batch.on_resize == core::OnResize::kCallback;
  if (job.progress.noise_scale || !chooses || !has_kin || newest_of(job.measurements.sizes) != nullptr) {
    return job.progress.noise_scale;
  }
  return double(job.spec.batch.global);
}

// The seconds that the exchange of gradients takes in a step with this many seconds of computing.
double left_beside(double computing_s, double step_s) {
  return std::sqrt(std::max(0.0, step_s * step_s - computing_s * computing_s));
}

std::vector<ThroughputPoint> points_of(const std::map<int, core::SizeRecord>& sizes) {
  std::vector<ThroughputPoint> points;
  points.reserve(sizes.size());
  for (const auto& [size, record] : sizes) {
    if (was_measured(record)) points.push_back(point_of(size, record));
  }
  return points;
}

}  // namespace

JobSpeed::JobSpeed(const core::Job& job) : JobSpeed(measurements_of(job, job.measurements.sizes)) {}

JobSpeed::JobSpeed(const core::Job& job, const Kin& kin) : JobSpeed(measurements_of(job, with_kin(job, kin))) {
  if (!kin.sizes.empty()) largest_of_kin_ = kin.sizes.rbegin()->first;
}

JobSpeed::Measurements JobSpeed::measurements_of(const core::Job& job, const Sizes& sizes) {
  const bool has_kin = sizes.size() > job.measurements.sizes.size();
  return {.global_batch = job.spec.batch.global,
          .slots_per_worker = job.spec.gpus_per_worker,
          .sizes = sizes,
          .noise = noise_of(job, has_kin),
          .on_resize = job.spec.batch.on_resize,
          .batch_max = job.spec.batch.global_max ? double(*job.spec.batch.global_max) : HUGE_VAL,
          .own = newest_of(job.measurements.sizes) != nullptr};
}

JobSpeed::Sizes JobSpeed::with_kin(const core::Job& job, const Kin& kin) {
  Sizes sizes = job.measurements.sizes;
  std::erase_if(sizes, [](const auto& entry) { return !was_measured(entry.second); });
  if (kin.sizes.empty()) return sizes;
  double slower = 1;
  if (const Sizes::value_type* newest = newest_of(sizes)) {
    const core::SizeRecord& record = newest->second;
    const double batch = record.samples_per_second * record.step_seconds;
    slower = record.step_seconds / JobSpeed(measurements_of(job, kin.sizes)).seconds_of(newest->first, batch);
  }
  for (const auto& [size, record] : kin.sizes) {
    const auto [known, is_new] = sizes.try_emplace(size, record);
    if (!is_new) continue;
    known->second.step_seconds *= slower;
    known->second.samples_per_second /= slower;
  }
  return sizes;
}

JobSpeed::JobSpeed(const core::Job& job, const Sizes& expected) : JobSpeed(job) {
  const std::vector<ThroughputPoint> points = points_of(expected);
  is_expected_ = !points.empty();
  if (is_expected_) curve_ = curve_of(points);
}

JobSpeed::JobSpeed(const core::EndedJob& job)
    : JobSpeed(Measurements{
          .global_batch = job.global_batch, .slots_per_worker = job.gpus_per_worker, .sizes = job.sizes, .noise = {}}) {
}

JobSpeed::JobSpeed(const Measurements& measured)
    : declared_batch_(double(measured.global_batch)),
      noise_(measured.noise),
      on_resize_(measured.on_resize),
      batch_max_(measured.batch_max),
      slots_per_worker_(measured.slots_per_worker) {
  const std::vector<ThroughputPoint> points = points_of(measured.sizes);
  measured_.reserve(points.size());
  for (const auto& [size, record] : measured.sizes) {
    if (!was_measured(record)) continue;
    const double batch = record.samples_per_second * record.step_seconds;
    measured_.push_back({.workers = size, .rate = record.samples_per_second, .batch = batch});
  }
  const bool chooses = on_resize_ == core::OnResize::kCallback && noise_ && !measured_.empty();
  if (chooses) {
    read_at_declared_batch(measured.sizes, measured.own);
  } else {
    curve_ = curve_of(points);
  }
}

void JobSpeed::read_at_declared_batch(const Sizes& sizes, bool is_own) {
  sample_seconds_ = HUGE_VAL;
  for (const MeasuredSize& size : measured_) sample_seconds_ = std::min(sample_seconds_, size.workers / size.rate);
  std::vector<ThroughputPoint> points;
  const MeasuredSize* newest = nullptr;
  Instant newest_at;
  double gave = 0;  // by the newest record
  for (MeasuredSize& size : measured_) {
    const core::SizeRecord& record = sizes.at(size.workers);
    if (newest == nullptr || record.measured_at > newest_at) {
      newest = &size;
      newest_at = record.measured_at;
      gave = size.rate * teaches(size.batch) / declared_batch_;
    }
    size.exchange_s = left_beside(sample_seconds_ * size.batch / size.workers, record.step_seconds);
    size.rate = declared_batch_ / std::hypot(size.exchange_s, sample_seconds_ * declared_batch_ / size.workers);
    ThroughputPoint point = point_of(size.workers, record);
    point.samples_per_second = size.rate;
    points.push_back(point);
  }
  curve_ = curve_of(points);
  exchange_beyond_ = exchange_beyond_largest();
  const double says = best_goodput(newest->workers);
  if (says > 0 && is_own) bend_ = gave / says;
}

double JobSpeed::teaches(double batch) const {
  return noise_ ? std::min(1.0, (*noise_ + declared_batch_) / (*noise_ + batch)) : 1;
}

// Between measured sizes along a line; beyond the largest as there, for a size that was never tried must not look worse
// than it may be; below the smallest as less as fewer workers wait for each other.
double JobSpeed::exchange_seconds(double workers) const {
  const auto above = std::find_if(measured_.begin(), measured_.end(),
                                  [&](const MeasuredSize& size) { return size.workers >= workers; });
  if (above == measured_.end()) {
    const MeasuredSize& largest = measured_.back();
    const double guessed = sample_seconds_ * declared_batch_ * kPriorSigma * (workers - 1) / workers;
    return largest.workers > 1 ? exchange_beyond_ : guessed;
  }
  if (above == measured_.begin()) {
    return above->workers > 1 ? above->exchange_s * std::max(0.0, workers - 1) / (above->workers - 1)
                              : above->exchange_s;
  }
  const MeasuredSize& below = *std::prev(above);
  const double share = (workers - below.workers) / (above->workers - below.workers);
  return below.exchange_s + share * (above->exchange_s - below.exchange_s);
}

// As at the largest size. One that gave less than the size below says more of the place where it was tried than of all
// that are larger (a second node is the dearest): then as at that size, so that one more is tried.
double JobSpeed::exchange_beyond_largest() const {
  const MeasuredSize& largest = measured_.back();
  if (measured_.size() < 2) return largest.exchange_s;
  const MeasuredSize& below = *std::prev(measured_.end(), 2);
  return best_goodput(largest.workers) < best_goodput(below.workers) ? below.exchange_s : largest.exchange_s;
}

double JobSpeed::best_goodput(double workers) const {
  if (!(workers > 0)) return 0;
  const double sample_s = sample_seconds_ / workers;
  const double exchange_s = exchange_seconds(workers);
  const double ratio = exchange_s / sample_s;
  const double best = std::cbrt(*noise_ * ratio * ratio);
  const double batch = std::clamp(best, declared_batch_, std::max(declared_batch_, batch_max_));
  return batch / std::hypot(exchange_s, sample_s * batch) * teaches(batch) / declared_batch_;
}

double JobSpeed::seconds_of(double workers, double batch) const {
  if (sample_seconds_ > 0) return std::hypot(exchange_seconds(workers), sample_seconds_ * batch / workers);
  return batch / rate(workers);
}

UslCurve JobSpeed::curve_of(const std::vector<ThroughputPoint>& points) const {
  const auto fitted = points.empty() ? std::nullopt : fit_usl(points);
  UslCurve curve = fitted.value_or(UslCurve{.lambda = declared_batch_, .sigma = kPriorSigma, .kappa = 0});
  if (points.size() == 1) curve.sigma = kPriorSigma;
  return curve;
}

double JobSpeed::workers(Shape shape) const {
  return double(shape.size) / slots_per_worker_;
}

const JobSpeed::MeasuredSize& JobSpeed::nearest(double workers) const {
  const MeasuredSize* best = &measured_.front();
  for (const MeasuredSize& size : measured_) {
    if (std::abs(size.workers - workers) < std::abs(best->workers - workers)) best = &size;
  }
  return *best;
}

double JobSpeed::curve_at(double workers) const {
  const double lower = std::max(1.0, std::floor(workers));
  const double share = workers - lower;
  const double at = curve_.at(int(lower));
  if (share <= 0) return share < 0 ? at * workers / lower : at;
  return at + share * (curve_.at(int(lower) + 1) - at);
}

double JobSpeed::rate(double workers) const {
  if (measured_.empty()) return curve_at(workers);
  const MeasuredSize& near = nearest(workers);
  if (near.workers == workers) return near.rate;
  const double bend = near.rate / std::max(curve_at(near.workers), 1e-300);
  // At best a job scales without loss from the nearest size that was measured.
  return std::min(curve_at(workers) * bend, near.rate * std::max(1.0, workers / near.workers));
}

double JobSpeed::batch(double workers) const {
  if (measured_.empty() || on_resize_ == core::OnResize::kConstant) return declared_batch_;
  const MeasuredSize& near = nearest(workers);
  return std::min(near.batch * workers / near.workers, batch_max_);
}

double JobSpeed::step_seconds(Shape shape) const {
  const double at = rate(workers(shape));
  return at > 0 ? declared_batch_ / at : HUGE_VAL;
}

double JobSpeed::goodput(Shape shape) const {
  const double many = workers(shape);
  if (sample_seconds_ > 0) return bend_ * best_goodput(many);
  return rate(many) * teaches(batch(many)) / declared_batch_;
}

}  // namespace tidepool::policies::cluster
