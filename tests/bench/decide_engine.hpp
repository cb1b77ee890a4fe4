// Decisions of a whole engine under tidal: step, decide and accept of single events, and a plan from scratch.
#pragma once

namespace tidepool {

void print_engine_decisions();

}  // namespace tidepool
