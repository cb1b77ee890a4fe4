// The figures of `tools/bench decide` for the policy `tidal`: the market alone on 1,250 nodes of 8 slots with 10,000
// jobs that run and 10,000 that wait, and on half of that.
#pragma once

namespace tidepool {

void print_tidal_decisions();

}  // namespace tidepool
