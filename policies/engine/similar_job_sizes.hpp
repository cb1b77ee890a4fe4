// How long a step takes jobs of one kind (core/state/job_kind.hpp) at each size, by those that run and those that have
// ended: what a job may expect of sizes at which it was not measured itself. Everything follows from the engine's
// records of all jobs, whatever was told first.
//
// Rules. Of each size the mean of the steps and the mean of the batches of all jobs of the kind count that were
// measured there, each once and the asking job not at all; what a step takes at another batch is the reader's to say
// (job_speed.hpp). On slots of another type jobs are other kin; one that has not run yet has the kin of the type on
// which most of its kind were measured. Means are told in parts of a doubling, so that few answers change with a
// report; from 16 jobs on, what one of them says is lost among the others.
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

  // In place of what was told of the job before.
  void tell(const core::Job& job);
  void tell(const core::EndedJob& job);
  // Nothing is known of the job any more.
  void withdraw(JobId job);

  // What its kin were measured at, by size in workers, as records of no time; empty: it has none. It is moved when that
  // may change.
  [[nodiscard]] Sizes expected(const core::Job& job);
  // Jobs for which expected() was asked and may answer otherwise by now, each once.
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
  // What is told of them: jobs are moved by as much.
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
