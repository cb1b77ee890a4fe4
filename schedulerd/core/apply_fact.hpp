// step(): what each fact teaches. One function per fact; each checks first and writes afterwards, so a
// fact that is refused has changed nothing.
#pragma once

#include "base/result.hpp"
#include "schedulerd/core/engine.hpp"
#include "schedulerd/core/fact.hpp"
#include "schedulerd/core/state_change.hpp"

namespace tidepool::core {

// An error means that the fact contradicts the state. A fact that repeats what is known, or that comes
// from an older generation, changes nothing and is no error.
[[nodiscard]] Status apply_fact(StateChange& change, const Fact& fact, const Engine::Parts& parts);

}  // namespace tidepool::core
