// The clock of a replay: rounds of equal length; at the end of each, every job that has been submitted and has not
// ended is shown to the policy, and what the policy answers holds from then on. A job becomes visible at the first end
// of a round at or after its submission, and a round costs what is waiting or running in it. Pure: the same setup gives
// the same result, but for the stopwatch's times.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/place/place.hpp"
#include "sim/cluster_model.hpp"
#include "sim/simulator.hpp"
#include "studies/replay/run_progress.hpp"
#include "studies/replay/training.hpp"

namespace tidepool::sim {

struct ReplayJob {
  std::string name;
  std::string application;
  double submitted_s = 0;
  std::unique_ptr<Training> training;
};

struct ReplaySetup {
  ClusterShape cluster;
  std::vector<ReplayJob> jobs;  // by submission
  const policies::cluster::AllocationPolicy& policy;
  const policies::PlaceStage& place;
  int round_s = 60;
  // Part of its speed that a job on several nodes loses while another such job has slots on one of them (Qiao et al.,
  // OSDI 2021, section 5.3.2).
  double interference = 0;
  double limit_s = 90 * 86'400.0;              // the run ends here whatever is left
  std::function<std::int64_t()> stopwatch_ns;  // none = decision times are not measured
  bool keep_decisions = false;
  TellProgress on_progress = {};  // at each round; none = not told
};

// Errors: a policy or place stage that broke a law (kInternal), a placement for which nothing was measured. Of the
// result, what belongs to the live engine (journal, crashes, state) stays empty; one line per changed job and round.
// The jobs' trainings are at their ends afterwards.
[[nodiscard]] Result<SimResult> replay(ReplaySetup& setup);

}  // namespace tidepool::sim
