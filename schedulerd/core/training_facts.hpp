// What jobs report about their training. Reports of an older generation change nothing (fencing).
#pragma once

#include "base/result.hpp"
#include "schedulerd/core/engine.hpp"
#include "schedulerd/core/fact.hpp"
#include "schedulerd/core/state_change.hpp"

namespace tidepool::core {

[[nodiscard]] Status apply(StateChange& change, const GenerationSwitched& fact);
[[nodiscard]] Status apply(StateChange& change, const StepsMeasured& fact, const Engine::Parts& parts);
[[nodiscard]] Status apply(StateChange& change, const DataEpochAudited& fact);
[[nodiscard]] Status apply(StateChange& change, const TrainingFinished& fact);

}  // namespace tidepool::core
