// How long each stage of decisions took, by a clock of the caller, because the core has none. Shows where a slow
// decision spends its time; has no effect on decisions.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include "base/time.hpp"

namespace tidepool::core {

enum class Stage {
  kTransitions,  // continues changes of membership, handles ended workers
  kPlan,         // targets of all jobs, where they depend on each other
  kReconcile,    // which jobs start by their targets, which wait, and which release slots for others
  kSize,         // running jobs change size or stay, job by job
  kValidate,     // checks the decision against the invariants
};
inline constexpr std::array<std::string_view, 5> kStageNames{"transitions", "plan", "reconcile", "size", "validate"};

class StageTimes {
 public:
  using Clock = std::function<Instant()>;
  // The clock never goes backwards, and is not null.
  explicit StageTimes(Clock clock) : clock_(std::move(clock)) {}

  // Time from now on counts for this stage instead of the previous one.
  void begin(Stage stage) {
    const Instant now = clock_();
    close(now);
    stage_ = static_cast<std::size_t>(stage);
    since_ = now;
  }
  void end() {
    close(clock_());
    stage_ = kNone;
  }
  // The sum over all decisions since the last clear(); 0 = the stage was not reached, or took less than the clock
  // resolves.
  [[nodiscard]] Duration of(Stage stage) const { return spent_.at(static_cast<std::size_t>(stage)); }
  void clear() { spent_ = {}; }

 private:
  static constexpr std::size_t kNone = kStageNames.size();

  void close(Instant now) {
    if (stage_ != kNone) spent_.at(stage_) = spent_.at(stage_) + (now - since_);
  }

  Clock clock_;
  std::array<Duration, kStageNames.size()> spent_{};
  std::size_t stage_ = kNone;
  Instant since_;
};

}  // namespace tidepool::core
