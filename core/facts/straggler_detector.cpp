#include "core/facts/straggler_detector.hpp"

namespace tidepool::core {

const StragglerDetector* StragglerDetectors::detector_for(const JobSpec& spec) const {
  if (spec.straggler_detector == kNoDetector) return nullptr;
  const auto asked_for = named.find(spec.straggler_detector);
  return asked_for == named.end() ? usual.get() : asked_for->second.get();
}

}  // namespace tidepool::core
