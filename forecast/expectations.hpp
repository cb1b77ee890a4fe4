// What a forecast assumes about every job: its speed at a size, its remaining work, and how long its changes take. All
// of it follows from the state at the beginning of the forecast and does not change while it runs: simulated events are
// not evidence. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/id_table.hpp"
#include "core/state/cluster_state.hpp"
#include "forecast/known_jobs.hpp"
#include "policies/engine/job_speed.hpp"
#include "policies/engine/type_ratios.hpp"

namespace tidepool::forecast {

// The basis of the forecast end of a job; the later in the list, the less reliable.
enum class Basis {
  kDeclared,  // the work is declared in its job file, and its speed was measured
  kTold,      // the work was reported by its program, and its speed was measured
  kKin,       // its work or its speed is that of similar jobs
  kUnknown,   // its work is not known; assumed to need as long again as it has run
};
[[nodiscard]] const char* to_text(Basis basis);

class Expectations {
 public:
  // `state` outlives it and does not change.
  explicit Expectations(const core::ClusterState& state);

  struct Work {
    Basis basis = Basis::kUnknown;
    double steps_left = 0;  // at its declared batch, from its reports; >= 0
  };
  // Requires: the job is in the state, as is that of all calls below.
  [[nodiscard]] const Work& work(JobId job);
  // Steps a second at its declared batch, > 0. `slot_type`: that of its workers' slots; empty = not known.
  [[nodiscard]] double steps_per_second(JobId job, const std::string& slot_type, int workers);

  // From the start of a worker until it is ready.
  [[nodiscard]] Duration boot(const core::Job& job) const;
  // From the commit of a generation until its members step, for the job as it is at the commit.
  [[nodiscard]] Duration stall(const core::Job& job) const;
  // The same where programs are restarted with each change of size. At a start there is no program to stop.
  [[nodiscard]] Duration restart_stall(const core::Job& job) const;

 private:
  using Speed = policies::cluster::JobSpeed;
  // Means over jobs in the order of their ids, with the largest weight for the newest: those of one program, and all.
  class Means {
   public:
    // Of a job of this kind (job_kind.hpp); none: nothing was measured.
    void add(std::uint64_t kind, std::optional<double> ms);
    [[nodiscard]] Duration or_else(std::uint64_t kind, Duration guess) const;

   private:
    struct Mean {
      double ms = 0;
      std::int64_t jobs = 0;
      void add(double value);
    };
    Mean all_;
    std::map<std::uint64_t, Mean> by_kind_;
  };
  using Kind = core::TransitionCost core::TypeRecords::*;
  [[nodiscard]] Work work_of(const core::Job& job);
  [[nodiscard]] Work unknown_work(const core::Job& job);
  [[nodiscard]] const Speed& speed_of(const core::Job& job, const std::string& slot_type);
  [[nodiscard]] double rate_of(const core::Job& job, const std::string& slot_type, int workers);
  [[nodiscard]] Duration mean_of(const core::Job& job, Kind kind, const Means& others) const;
  void add(std::uint64_t kind, const core::EndedCosts& costs);

  const core::ClusterState* state_;
  KnownJobs known_;
  policies::cluster::TypeRatios ratios_;
  std::map<std::pair<JobId, std::string>, Speed> speeds_;
  IdTable<JobId, Work> work_;
  // Over the jobs that have measured them, also ended ones.
  Means boots_;
  Means starts_;
  Means grows_;
  Means shrinks_;
  Means replaces_;
  Means restarts_;
};

}  // namespace tidepool::forecast
