// The measurements of jobs over time, as rows of the journal's database.
//
// Rule: the newest points of a job are kept; once there are too many, older ones are thinned evenly, so that a job of
// any length keeps an even curve. Everything is written within the journal's batches, on its thread.
#pragma once

#include <cstdint>
#include <map>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class MetricRows {
 public:
  explicit MetricRows(std::int64_t points_max) : points_max_(points_max) {}

  [[nodiscard]] Status prepare(Database& database);
  // Requires: a batch is open.
  [[nodiscard]] Status add(JobId job, const MetricPoint& point);
  // The job gets no more points.
  void forget(JobId job) { ordinals_.erase(job); }

 private:
  [[nodiscard]] Status thin(JobId job, std::int64_t next);

  std::int64_t points_max_;
  std::map<JobId, std::int64_t> ordinals_;  // next ordinal, by job
  Statement add_, next_ordinal_, thin_;
};

}  // namespace tidepool::live
