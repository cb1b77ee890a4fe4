// What jobs report about their training. Reports of an older generation change nothing (fencing).
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/facts/straggler_detector.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const GenerationSwitched& fact);
[[nodiscard]] Status apply(StateChange& change, const StepsMeasured& fact, const StragglerDetectors& detectors);
[[nodiscard]] Status apply(StateChange& change, const DataEpochAudited& fact);
[[nodiscard]] Status apply(StateChange& change, const TrainingFinished& fact);

}  // namespace tidepool::core
