// How much faster jobs are on one type of slot than on another, from jobs that have run on both; and what a job that
// has run on one type only is expected to do on another. Everything follows from the engine's records of all jobs, in
// whatever order they were reported.
//
// Rules. A job contributes the quotient of its speeds at the largest size that was measured on both types, else by
// worker at its smallest sizes. For a pair of types the geometric mean counts, each job once. Where no job has run on
// both, a job is expected to be as fast as its user states (resources.gpu.type), else equally fast on both, until it is
// measured there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/ids.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::policies::cluster {

class TypeRatios {
 public:
  using Sizes = std::map<int, core::SizeRecord>;
  using ByType = std::map<std::string, const Sizes*>;

  // Replaces what was recorded for the job.
  void tell(const core::Job& job);
  void tell(const core::EndedJob& job);
  void withdraw(JobId job);

  // Speed on the first type as a share of the speed on the second; none: no job has run on both.
  [[nodiscard]] std::optional<double> ratio(const std::string& of, const std::string& beside) const;
  // Changes whenever ratio() may answer differently.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  // What a job without records of its own is expected to do on its type: the records of the type on which it was
  // measured most, scaled to the speed of this one. None: it was measured on no type. The job is moved when that may
  // change.
  [[nodiscard]] std::optional<Sizes> expected(const core::Job& job);
  // Jobs for which expected() was called and whose answer may have changed, each once.
  [[nodiscard]] std::vector<JobId> take_moved();
  void forget(JobId job) { asking_.erase(job); }
  void forget_all() { asking_ = {}; }

 private:
  // The first name is the smaller one. Logarithms in parts of a doubling, so that sums are exact in any order.
  using Pair = std::pair<std::string, std::string>;
  struct Sum {
    std::int64_t parts = 0;
    std::int64_t jobs = 0;
  };
  void tell(JobId job, const ByType& records);

  std::map<Pair, Sum> sums_;
  std::map<JobId, std::map<Pair, std::int64_t>> told_;
  IdSet<JobId> asking_;
  bool changed_ = false;
  std::uint64_t revision_ = 0;
};

}  // namespace tidepool::policies::cluster
