// step(): applies each fact to the state. One function per fact; each checks first and writes afterwards, so a refused
// fact changes nothing.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/facts/straggler_detector.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// An error means that the fact contradicts the state. A fact that repeats known information, or that comes from an
// older generation, changes nothing and is no error.
[[nodiscard]] Status apply_fact(StateChange& change, const Fact& fact, const StragglerDetectors& detectors);

}  // namespace tidepool::core
