// The search for a matrix of high fitness (pollux_fitness.hpp). Pollux's own is a genetic algorithm of 100 matrices and
// 100 generations with kept populations; this one takes out some jobs and lays them out again, over and over:
//   rebuild(jobs)  sizes by dynamic programming over the slots that are free without them, each job on as few nodes as
//                  possible, then placed: those that stay first, or the large ones; then each grows into what is left
// first with all jobs, then with a random job and some of those on up to three random nodes, keeping what is better. It
// starts from what jobs hold. tests/unit/policies/pollux_test.cpp holds it against the genetic search.
#pragma once

#include "base/rng.hpp"
#include "core/decide/step_budget.hpp"
#include "studies/baselines/pollux_fitness.hpp"

namespace tidepool::policies::cluster {

// Rebuilds after the first; each costs a few microseconds on a cluster of 16 nodes.
inline constexpr int kPolluxRebuilds = 400;

// Always lawful; at least as good as keeping what jobs hold. Equal seeds give equal matrices.
[[nodiscard]] SlotMatrix search_pollux(const PolluxFitness& fitness, Rng rng, core::StepBudget& budget);

}  // namespace tidepool::policies::cluster
