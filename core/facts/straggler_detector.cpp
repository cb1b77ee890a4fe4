#include "core/facts/straggler_detector.hpp"

namespace tidepool::core {

const StragglerDetector* StragglerDetectors::detector_for(const JobSpec& spec, const std::string& configured) const {
  if (spec.straggler_detector == kNoDetector) return nullptr;
  for (const std::string& name : {spec.straggler_detector, configured}) {
    if (const auto found = named.find(name); found != named.end()) return found->second.get();
  }
  return usual.get();
}

}  // namespace tidepool::core
