// What the state keeps of a job that has ended and left it, as a basis for expectations about similar jobs. The job
// itself is handed over (Engine::take_ended) and stored in the journal.
#pragma once

#include <cstddef>
#include <memory>

#include "base/id_set.hpp"
#include "base/ids.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Only jobs that measured something or succeeded are kept. When there are twice as many, the half that ended first is
// removed, so that code that learns from them rarely has to start over.
inline constexpr std::size_t kEndedJobsRemembered = 4'096;

// The measured costs of the job's starts and changes, on its present or last slot type.
[[nodiscard]] EndedCosts costs_of(const Measurements& measured);

// The job has ended and nothing depends on it any more.
[[nodiscard]] bool has_left(const Job& job);

// Removes such a job from the state. Adds the jobs that are forgotten because of it to `forgotten`.
std::shared_ptr<const Job> take_out(ClusterState& state, JobId job, IdSet<JobId>& forgotten);

}  // namespace tidepool::core
