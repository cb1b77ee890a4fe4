// What a forecast assumes of every job: how fast it steps at a size, how much it has left, and how long its changes
// take. All of it follows from the state with which the forecast begins and does not change while it runs: its own
// events are no evidence. Pure.
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

// What the end of a job is reckoned from; the later, the less it promises.
enum class Basis {
  kDeclared,  // its job file says how much work there is, and its speed was measured
  kTold,      // its program has said so, and its speed was measured
  kKin,       // its length or its speed is that of jobs like it
  kUnknown,   // its length is not known; it is taken to need as long again as it has had
};
[[nodiscard]] const char* to_text(Basis basis);

class Expectations {
 public:
  // `state` outlives it and does not change.
  explicit Expectations(const core::ClusterState& state);

  struct Work {
    Basis basis = Basis::kUnknown;
    double steps_left = 0;  // at the batch that it declares, from what it has reported; >= 0
  };
  // Requires: the job is in the state, as is that of all calls below.
  [[nodiscard]] const Work& work(JobId job);
  // Steps a second at the batch that it declares, > 0. `slot_type`: that its workers are on; empty = not known.
  [[nodiscard]] double steps_per_second(JobId job, const std::string& slot_type, int workers);

  // From the start of a worker until it is ready.
  [[nodiscard]] Duration boot(const core::Job& job) const;
  // From the commit of a generation until its members step, of a job as it is then.
  [[nodiscard]] Duration stall(const core::Job& job) const;
  // The same where programs are restarted with each change of size. At a start there is none to be stopped.
  [[nodiscard]] Duration restart_stall(const core::Job& job) const;

 private:
  using Speed = policies::cluster::JobSpeed;
  // Over jobs in the order of their ids, of which the newest count most: those of one program, and all.
  class Means {
   public:
    // Of a job of this kind (job_kind.hpp); none: it measured nothing.
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
  // Over the jobs that have measured them, also those that have ended.
  Means boots_;
  Means starts_;
  Means grows_;
  Means shrinks_;
  Means replaces_;
  Means restarts_;
};

}  // namespace tidepool::forecast
