// How long a step takes jobs of one kind (core/state/job_kind.hpp) at each size, from running and ended jobs: what a
// job can expect of sizes at which it was not measured itself. Everything follows from the engine's records of all
// jobs, in whatever order they were reported.
//
// Rules. For each size the mean of the steps and the mean of the batches of all jobs of the kind that were measured
// there count, each job once and the asking job not at all; the reader derives what a step takes at another batch
// (job_speed.hpp). Jobs on slots of another type are other kin; a job that has not run yet has the kin of the type on
// which most of its kind were measured. Means are rounded to parts of a doubling, so that few answers change with a
// report; from 16 jobs on, a single job no longer changes them noticeably.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/id_set.hpp"
#include "base/ids.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::policies::cluster {

class SimilarJobSizes {
 public:
  using Sizes = std::map<int, core::SizeRecord>;

  // Replaces what was recorded for the job.
  void tell(const core::Job& job);
  void tell(const core::EndedJob& job);
  // Removes the job's record.
  void withdraw(JobId job);

  // The measurements of its kin, by size in workers, as records without a time; empty: it has no kin. The job is moved
  // when the answer may change.
  [[nodiscard]] Sizes expected(const core::Job& job);
  // Jobs for which expected() was called and whose answer may have changed, each once.
  [[nodiscard]] std::vector<JobId> take_moved();
  void forget(JobId job);
  void forget_all();

 private:
  using Kind = std::uint64_t;
  // Sums over jobs, exact in any order.
  struct Sum {
    std::int64_t step_ns = 0;
    std::int64_t batch = 0;  // thousandths of a sample
    std::int64_t jobs = 0;
    bool operator==(const Sum&) const = default;
  };
  using BySize = std::map<int, Sum>;
  // The rounded means: jobs are moved when these change.
  struct Mean {
    double step_seconds = 0;
    double batch = 0;
    std::int64_t jobs = 0;
    bool operator==(const Mean&) const = default;
  };
  using Means = std::map<std::tuple<Kind, std::string, int>, Mean>;  // by kind, type of slot, size
  // What a job has added to the sums of its kind.
  struct Contribution {
    Kind kind = 0;
    std::map<std::string, BySize> by_type;
    bool operator==(const Contribution&) const = default;
  };
  struct Kin {
    std::map<std::string, BySize> by_type;
    IdSet<JobId> asking;
    bool changed = false;
  };
  void tell(JobId job, Contribution now);
  void add(const Contribution& contribution, int sign, Means& means);
  void note_changes(const Means& means);
  [[nodiscard]] static Mean mean_of(const Sum& sum);
  [[nodiscard]] static BySize sums_of(const Sizes& sizes);
  [[nodiscard]] static const BySize* type_for(const Kin& kin, const std::string& slot_type);

  std::map<Kind, Kin> kin_;
  std::map<JobId, Contribution> contributions_;
  std::map<JobId, Kind> asking_;
  std::vector<Kind> changed_;
};

}  // namespace tidepool::policies::cluster
