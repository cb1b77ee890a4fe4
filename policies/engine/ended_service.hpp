// The slot time of jobs that have succeeded, in the order in which they ended, for as long as they are remembered.
//
// It follows from the jobs that were noted and forgotten, not from the order of the calls: gaps are closed before it is
// read.
#pragma once

#include <cstddef>
#include <vector>

#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

namespace tidepool::policies::cluster {

class EndedService {
 public:
  // Called again for a job: the newest value counts, and its place stays.
  void note(JobId id, Duration slot_time);
  // The job is no longer remembered. Does nothing for a job that was not noted.
  void forget(JobId id);
  // Slot-seconds. Valid until the next call of another function.
  [[nodiscard]] const std::vector<double>& in_order();

 private:
  void close_gaps();

  std::vector<double> ended_;             // slot-seconds of jobs that have succeeded
  bool has_gaps_ = false;                 // ended_ contains jobs that are no longer remembered
  IdTable<JobId, std::size_t> place_of_;  // of each of them in ended_
};

}  // namespace tidepool::policies::cluster
