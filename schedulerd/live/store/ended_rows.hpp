// The table of jobs that have ended and left the state, to write to.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class EndedRows {
 public:
  [[nodiscard]] Status prepare(Database& database);
  // In place of what is there of the job.
  [[nodiscard]] Status add(const core::Job& job, const std::string& listed);

 private:
  Statement add_;
};

}  // namespace tidepool::live
