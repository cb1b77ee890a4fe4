// What a turn has to tell those who run the daemon, as lines of its log.
#pragma once

#include "schedulerd/leader/turn_notes.hpp"

namespace tidepool::live {

void log_note(const leader::TurnNote& note);

}  // namespace tidepool::live
