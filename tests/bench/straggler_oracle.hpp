// What no detector can do better: how many steps of a slow worker it takes to tell it from the noise of a recording,
// knowing that noise and the step at which the slowness began.
// Safe rule: a bound from below, in favour of the oracle: it is fitted to the recording that it is tried on, and its
// bar is the largest value that a healthy worker of that one recording shows, not one that a longer run would show.
//
// The likelihood ratio for a shift d of one rank's log time by a factor, in noise with the recording's own covariance
// C over the n steps and all ranks: with u = 1 at the rank's places and 0 elsewhere, it grows with u' C^-1 x
// (Neyman and Pearson; normal noise). C holds the autocorrelation and what the ranks have in common.
#pragma once

#include "tests/support/recorded_noise.hpp"

namespace tidepool::test {

// The share of onsets at which a worker that is `slowness` times slower lies above every healthy one after `steps`
// steps. Requires: 1 <= steps < recorded steps.
[[nodiscard]] double share_told_apart(const ComputeTimes& recorded, double slowness, int steps);

}  // namespace tidepool::test
