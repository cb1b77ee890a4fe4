// A job's speed at each size, by its own records: the measured rate where there is one, else the fitted curve
// (usl_curve.hpp), bent so that it passes through the nearest measured size. Without measurements it is optimistic, as
// every policy that tries sizes needs: one measured size scales without loss; with none, the job runs one step a second
// on one worker. A daemon's records contain sizes, not nodes, so the shape's nodes do not matter.
//
// Where a job was not measured, its kin's records are used (similar_job_sizes.hpp), scaled by the ratio of the job's
// own newest record to theirs: by size, the steps of a kind scale much the same way, while a machine or an argument
// makes all of them slower at once. Its own records have precedence wherever there are some.
//
// A program that sets its batch itself (OnResize::kCallback) and reports its gradient noise is assumed to choose, at
// each size, the batch that teaches most a second (Qiao et al., OSDI 2021, section 3.2): what a size gave at a batch
// that suited the noise of that time says little about what it would give now. A step of M samples on k workers
// computes for b M / k seconds and exchanges gradients for a(k), partly at the same time, and takes sqrt(a(k)^2 + (b M
// / k)^2) seconds (their equation with gamma = 2), so that the best batch is cbrt(phi (a(k) k / b)^2); b is the least
// measured cost of a sample, and the newest measurement sets the correction of the whole model.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/models/usl_curve.hpp"

namespace tidepool::policies::cluster {

// The record contains how fast a job is at its size.
[[nodiscard]] bool was_measured(const core::SizeRecord& record);

// Its program sets its batch itself and has reported how noisy its gradient is.
[[nodiscard]] bool chooses_batch(const core::Job& job);

// A program that is restarted for a change of size and has reported no steps: sizes cannot be judged.
[[nodiscard]] bool reports_nothing(const core::Job& job);

class JobSpeed final : public SpeedModel {
 public:
  using Sizes = std::map<int, core::SizeRecord>;

  explicit JobSpeed(const core::Job& job);
  // For a job that was not yet measured on its type of slot, with what is expected there (type_ratios.hpp).
  JobSpeed(const core::Job& job, const Sizes& expected);
  // In addition to its own records those of its kin (similar_job_sizes.hpp) at sizes at which it was not measured
  // itself, slower or faster by the job's newest ratio to them.
  struct Kin {
    const Sizes& sizes;
  };
  JobSpeed(const core::Job& job, const Kin& kin);
  // For a job that has ended: what it measured; its noise and its batches at other sizes are not remembered.
  explicit JobSpeed(const core::EndedJob& job);

  [[nodiscard]] double step_seconds(Shape shape) const override;
  // Samples a second x what a sample teaches at the batch of that size / the declared batch. A sample teaches
  // (phi + M0) / (phi + M) of what it does at the declared batch M0, phi being the newest noise scale (Qiao et al.,
  // OSDI 2021, section 3.1).
  [[nodiscard]] double goodput(Shape shape) const override;

  // Its speed was measured, or is expected from another type of slot, or from its kin.
  [[nodiscard]] bool is_known() const { return is_expected_ || !measured_.empty(); }
  // In workers; 0 = it has no kin, or they were not measured.
  [[nodiscard]] int largest_of_kin() const { return largest_of_kin_; }
  // In workers, its own or its kin's; 0 = nothing was measured.
  [[nodiscard]] int largest_measured() const { return measured_.empty() ? 0 : measured_.back().workers; }

 private:
  struct Measurements {
    std::int64_t global_batch = 1;
    int slots_per_worker = 1;
    const Sizes& sizes;
    std::optional<double> noise;
    core::OnResize on_resize = core::OnResize::kConstant;
    double batch_max = HUGE_VAL;
    bool own = true;  // some of the sizes are the job's own
  };
  [[nodiscard]] static Measurements measurements_of(const core::Job& job, const Sizes& sizes);
  [[nodiscard]] static Sizes with_kin(const core::Job& job, const Kin& kin);
  explicit JobSpeed(const Measurements& measured);

  struct MeasuredSize {
    int workers = 0;
    double rate = 0;        // samples a second, > 0; for a program that chooses its batch: at the declared batch
    double batch = 0;       // samples a step, > 0; as measured
    double exchange_s = 0;  // a(k), for a program that chooses its batch
  };
  void read_at_declared_batch(const Sizes& sizes, bool is_own);
  [[nodiscard]] double teaches(double batch) const;
  [[nodiscard]] double exchange_seconds(double workers) const;
  [[nodiscard]] double exchange_beyond_largest() const;
  [[nodiscard]] double best_goodput(double workers) const;
  [[nodiscard]] double seconds_of(double workers, double batch) const;
  [[nodiscard]] UslCurve curve_of(const std::vector<ThroughputPoint>& points) const;
  [[nodiscard]] double workers(Shape shape) const;
  [[nodiscard]] double rate(double workers) const;
  [[nodiscard]] double batch(double workers) const;
  [[nodiscard]] const MeasuredSize& nearest(double workers) const;  // requires: something was measured
  [[nodiscard]] double curve_at(double workers) const;

  std::vector<MeasuredSize> measured_;  // by workers
  UslCurve curve_;
  bool is_expected_ = false;  // the curve is that of another type of slot
  double declared_batch_;
  std::optional<double> noise_;
  core::OnResize on_resize_;
  double batch_max_;  // samples a step; infinite without a limit
  // For a program that chooses its batch; 0 = it does not, or nothing was measured.
  double sample_seconds_ = 0;   // b
  double exchange_beyond_ = 0;  // a(k) of sizes above the largest seen
  double bend_ = 1;             // the last measurement over what the model gives for it
  int slots_per_worker_;
  int largest_of_kin_ = 0;
};

}  // namespace tidepool::policies::cluster
