// Writes the notes of a turn as lines of the daemon's log.
#pragma once

#include "core/state/event.hpp"
#include "core/state/plan.hpp"
#include "schedulerd/leader/turn_notes.hpp"

namespace tidepool::live {

void log_note(const leader::TurnNote& note);
// Logs a committed event that operators must see or act on, as a warning.
void log_event(const core::Event& event);
// Logs a decision, one line per intent.
void log_intents(const core::Decision& decision);

}  // namespace tidepool::live
