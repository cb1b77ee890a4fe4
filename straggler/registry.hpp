// The straggler detectors that can be chosen by name, as a readable table. A detector is one file, and one line here.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "straggler/change_point_detector.hpp"
#include "straggler/detector.hpp"
#include "straggler/median_ratio_detector.hpp"
#include "straggler/z_score_detector.hpp"

namespace tidepool::straggler {

struct Entry {
  std::string_view name;     // as a configuration or a job file writes it
  std::string_view summary;  // one sentence
  std::shared_ptr<const Detector> (*make)();
};

template <class Rule>
std::shared_ptr<const Detector> make_shared_detector() {
  return std::make_shared<Rule>();
}

inline constexpr std::array kDetectors = {
    Entry{"change_point", "a shift of a tenth or more, verified on the steps that follow it",
          &make_shared_detector<ChangePointDetector>},
    Entry{"median_ratio", "moving average of the share of the others' speed, below 80 % (MLSys 2020)",
          &make_shared_detector<MedianRatioDetector>},
    Entry{"z_score", "modified z-score of the typical time above 3.5, from median and MAD over ranks and steps",
          &make_shared_detector<ZScoreDetector>},
};
inline constexpr std::string_view kDefaultDetector = "change_point";

}  // namespace tidepool::straggler
