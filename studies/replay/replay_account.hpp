// What a replay writes down, whatever its clock: a row per job for the policy and for the report, the decisions with
// their digest, how long they took. It asks the policy, checks the answer, and tells which jobs have a new placement.
// Pure but for the stopwatch's times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "base/result.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/place/place.hpp"
#include "sim/simulator.hpp"
#include "studies/replay/run_progress.hpp"

namespace tidepool::sim {

class ReplayAccount {
 public:
  struct Setup {
    const policies::cluster::AllocationPolicy& policy;
    const policies::PlaceStage& place;
    std::vector<policies::cluster::NodeRow> nodes;
    std::vector<policies::cluster::SlotType> types;
    std::function<std::int64_t()> stopwatch_ns;  // none = decision times are not measured
    bool keep_decisions = false;
    TellProgress on_progress = {};  // at each decision; none = not told
  };
  explicit ReplayAccount(Setup setup) : setup_(std::move(setup)) {}

  struct Job {
    policies::cluster::JobRow row;  // all but placement, held, mark and resizes is the caller's to keep
    JobResult report;
    bool ended = false;  // or declined: in either case no longer shown
  };
  // In order of submission.
  void add(const std::string& name, const std::string& application, double submitted_s);

  [[nodiscard]] std::vector<Job>& jobs() { return jobs_; }
  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  [[nodiscard]] bool all_ended() const { return ended_count_ == jobs_.size(); }

  // From now on the policy sees the job. Requires: told once of each, in order.
  void show(std::size_t job) { shown_.push_back(job); }
  // Those that are shown, in order, and those that have ended since the last decision: all that a round has to look at.
  [[nodiscard]] const std::vector<std::size_t>& shown() const { return shown_; }

  // Time that the job has held its slots, up to now.
  void held(std::size_t job, double seconds);
  void finished(std::size_t job, double at_s);

  struct Decision {
    std::vector<std::size_t> moved;  // jobs whose placement is another one now
    std::optional<double> wake_s;    // the policy wants to be asked then at the latest
  };
  // Asks the policy about all jobs that are shown and applies what it answers. Errors: it broke a law (kInternal).
  [[nodiscard]] Result<Decision> decide(double now_s);

  // Of the result, what belongs to the live engine stays empty. Once.
  [[nodiscard]] SimResult result(double now_s);

 private:
  [[nodiscard]] policies::cluster::View view(double now_s);
  void note(double now_s, const Job& job, const policies::cluster::Grant& grant,
            const policies::cluster::Placement& placement);
  void move(Job& job, double now_s, const policies::cluster::Placement& placement);

  Setup setup_;
  std::vector<Job> jobs_;
  std::vector<std::size_t> shown_;  // after view(): row of the view -> job
  std::size_t ended_count_ = 0;
  policies::cluster::Mark mark_;
  std::vector<double> ended_;  // slot-seconds of each job that has ended
  std::int64_t decisions_ = 0;
  std::vector<std::int64_t> decide_ns_;
  std::vector<double> gaps_;
  std::vector<std::string> lines_;
  Digest digest_;
};

[[nodiscard]] Instant instant_of(double seconds);

}  // namespace tidepool::sim
