// What the state remembers of a job that has ended and left it: what others like it may be expected to do. The job
// itself is handed over (Engine::take_ended) to be stored in the journal.
#pragma once

#include <cstddef>
#include <memory>

#include "base/id_set.hpp"
#include "base/ids.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Only those that measured something or succeeded. Once there are twice as many, the half that ended first is
// forgotten, so that what learns from them has to begin anew only now and then.
inline constexpr std::size_t kEndedJobsRemembered = 4'096;

// What a job has measured of its starts and changes, on the type of slot that it is on or was on last.
[[nodiscard]] EndedCosts costs_of(const Measurements& measured);

// The job has ended and nothing depends on it any more.
[[nodiscard]] bool has_left(const Job& job);

// Takes such a job out of the state. What is forgotten for it is added to `forgotten`.
std::shared_ptr<const Job> take_out(ClusterState& state, JobId job, IdSet<JobId>& forgotten);

}  // namespace tidepool::core
