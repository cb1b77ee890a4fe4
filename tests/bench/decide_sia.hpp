// A peer's figures in `tools/bench decide`: Sia's binary program (studies/baselines/sia.hpp), whole decisions on
// clusters of 64, 256 and 1,024 slots with half as many jobs as slots, four of five of them running.
#pragma once

namespace tidepool {

void print_sia_decisions();

}  // namespace tidepool
