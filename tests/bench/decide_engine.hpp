// Decisions of a whole engine under tidal: step, decide and accept of single events, and a plan from scratch.
#pragma once

namespace tidepool {

void print_engine_decisions();
// With three types of slot, a fifth of the jobs bound to one of them and a tenth with a deadline.
void print_typed_decisions();

}  // namespace tidepool
