// The workers of one job as a straggler detector knows them: feeds it step by step and keeps their memories.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "straggler/detector.hpp"

namespace tidepool::test {

class JudgedCrew {
 public:
  JudgedCrew(std::shared_ptr<const straggler::Detector> detector, std::size_t ranks)
      : detector_(std::move(detector)), memories_(ranks) {}

  const std::vector<straggler::Finding>& step(std::vector<std::int64_t> compute_us,
                                              std::vector<std::int64_t> samples = {}) {
    std::vector<straggler::Memory*> memories;
    for (auto& memory : memories_) memories.push_back(&memory);
    findings_ = detector_->judge({std::move(compute_us), std::move(samples)}, memories);
    return findings_;
  }
  void steps(int count, const std::vector<std::int64_t>& compute_us) {
    for (int i = 0; i < count; ++i) step(compute_us);
  }
  // Steps until `rank` is named at these times; 0 = not within `limit`.
  int steps_until_named(std::size_t rank, const std::vector<std::int64_t>& compute_us, int limit = 200) {
    for (int i = 1; i <= limit; ++i) {
      if (step(compute_us)[rank].slow) return i;
    }
    return 0;
  }
  // A joining worker takes the rank.
  void replace(std::size_t rank) { memories_[rank].clear(); }

  [[nodiscard]] const straggler::Finding& of(std::size_t rank) const { return findings_[rank]; }
  [[nodiscard]] bool any_slow() const {
    return std::any_of(findings_.begin(), findings_.end(), [](const auto& finding) { return finding.slow; });
  }
  [[nodiscard]] std::vector<straggler::Memory>& memories() { return memories_; }

 private:
  std::shared_ptr<const straggler::Detector> detector_;
  std::vector<straggler::Memory> memories_;
  std::vector<straggler::Finding> findings_;
};

// `ranks` equal times, one of them multiplied.
inline std::vector<std::int64_t> times_with(std::size_t ranks, std::size_t slow_rank, double slowness,
                                            std::int64_t normal_us = 50'000) {
  std::vector<std::int64_t> times(ranks, normal_us);
  times[slow_rank] = static_cast<std::int64_t>(static_cast<double>(normal_us) * slowness);
  return times;
}

}  // namespace tidepool::test
