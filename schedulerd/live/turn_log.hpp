// What a turn has to tell those who run the daemon, as lines of its log.
#pragma once

#include "core/state/plan.hpp"
#include "schedulerd/leader/turn_notes.hpp"

namespace tidepool::live {

void log_note(const leader::TurnNote& note);
// What was decided, a line for each intent.
void log_intents(const core::Decision& decision);

}  // namespace tidepool::live
