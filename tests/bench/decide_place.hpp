// The figures of `tools/bench decide` for placement: where the workers of one job go on 1,250 nodes of 8 slots of which
// half are taken, and on half of them. Each time free slots are counted anew, as in each decision.
#pragma once

namespace tidepool {

void print_placements();

}  // namespace tidepool
