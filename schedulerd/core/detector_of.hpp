// Makes any rule with score(), is_straggler() and threshold() the engine's detector. The rules live in
// straggler/, which knows nothing of the core; whoever builds an engine joins the two:
//   parts.detector = std::make_shared<core::DetectorOf<straggler::MedianRatioDetector>>();
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "schedulerd/core/engine.hpp"

namespace tidepool::core {

template <class Rule>
class DetectorOf final : public StragglerDetector {
 public:
  explicit DetectorOf(Rule rule = {}) : rule_(std::move(rule)) {}

  [[nodiscard]] double score(double previous, std::int64_t steps_seen, std::int64_t own_us,
                             const std::vector<std::int64_t>& all_us) const override {
    return rule_.score(previous, steps_seen, own_us, all_us);
  }
  [[nodiscard]] bool is_straggler(double score, std::int64_t steps_seen) const override {
    return rule_.is_straggler(score, steps_seen);
  }
  [[nodiscard]] double threshold() const override { return rule_.threshold(); }

 private:
  Rule rule_;
};

}  // namespace tidepool::core
