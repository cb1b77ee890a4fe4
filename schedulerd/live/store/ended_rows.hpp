// The table of ended jobs that have left the state, for writing.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class EndedRows {
 public:
  [[nodiscard]] Status prepare(Database& database);
  // Replaces the stored row of the job.
  [[nodiscard]] Status add(const core::Job& job, const std::string& listed);

 private:
  Statement add_;
};

}  // namespace tidepool::live
