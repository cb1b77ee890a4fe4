// Adapts a detector of straggler/ to the engine. Neither folder depends on the other; the code that builds an engine
// joins them:
//   parts.stragglers.usual = std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>();
//   parts.stragglers.named = core::detectors_of(straggler::kDetectors);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/facts/straggler_detector.hpp"

namespace tidepool::core {

template <class Rule>
class DetectorOf final : public StragglerDetector {
 public:
  DetectorOf() : rule_(std::make_shared<Rule>()) {}
  explicit DetectorOf(std::shared_ptr<const Rule> rule) : rule_(std::move(rule)) {}

  [[nodiscard]] std::string_view name() const override { return rule_->name(); }
  [[nodiscard]] std::vector<StragglerFinding> judge(const std::vector<std::int64_t>& compute_us,
                                                    const std::vector<std::int64_t>& samples,
                                                    const std::vector<std::vector<double>*>& memories) const override {
    std::vector<StragglerFinding> findings;
    for (const auto& found : rule_->judge({compute_us, samples}, memories)) {
      findings.push_back({.score = found.speed, .bar = found.bar, .slow = found.slow, .steps = found.steps});
    }
    return findings;
  }

 private:
  std::shared_ptr<const Rule> rule_;
};

// Every detector of a table with `name` and `make` in each row.
template <class Table>
[[nodiscard]] std::map<std::string, std::shared_ptr<const StragglerDetector>> detectors_of(const Table& table) {
  std::map<std::string, std::shared_ptr<const StragglerDetector>> detectors;
  for (const auto& row : table) {
    auto rule = row.make();
    using Rule = std::remove_const_t<typename decltype(rule)::element_type>;
    detectors.emplace(row.name, std::make_shared<DetectorOf<Rule>>(std::move(rule)));
  }
  return detectors;
}

}  // namespace tidepool::core
