// The columns of ElasticFlow's job files under the names that its authors use for them: those of the ITP clusters
// spell times and steps otherwise than those made for its simulator.
#pragma once

#include <array>
#include <string_view>

namespace tidepool::sim {

inline constexpr std::array<std::string_view, 8> kElasticFlowColumns{"job_id",
                                                                     "submission_time|submit_time",
                                                                     "num_iteration|iteration",
                                                                     "model_name",
                                                                     "deadline|ddl",
                                                                     "batch_size",
                                                                     "num_gpu",
                                                                     "duration"};

}  // namespace tidepool::sim
