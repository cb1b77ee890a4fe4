// What a turn notes for operators, as lines of the daemon's log.
#pragma once

#include "core/state/event.hpp"
#include "core/state/plan.hpp"
#include "schedulerd/leader/turn_notes.hpp"

namespace tidepool::live {

void log_note(const leader::TurnNote& note);
// Of what has been committed, what operators have to see or to mend, each as a warning.
void log_event(const core::Event& event);
// What was decided, a line for each intent.
void log_intents(const core::Decision& decision);

}  // namespace tidepool::live
