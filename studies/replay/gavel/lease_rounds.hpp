// The clock of Gavel's simulator (Narayanan et al., OSDI 2020): rounds in which each chosen job has a lease on its
// slots for so many whole steps as fit into a round, and no fewer than are left. A round ends when the last lease does,
// a job when its last step does; its slots stay idle for the rest of the round. No job pays for being moved. Jobs
// submitted during a round are shown at its end. Pure but for the stopwatch's times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "studies/replay/replay_account.hpp"
#include "studies/replay/type_speeds.hpp"

namespace tidepool::sim {

struct LeaseJob {
  std::string name;
  std::string application;
  double submitted_s = 0;
  std::int64_t steps = 0;
  int size = 1;
  double weight = 1;
  const TypeSpeeds* speeds = nullptr;  // outlives the run
};

struct LeaseSetup {
  ReplayAccount::Setup account;
  std::vector<LeaseJob> jobs;  // by submission
  double round_s = 360;
  double limit_s = 0;         // the run ends here whatever is left
  bool declared_work = true;  // whether the policy may know how much is left
};

[[nodiscard]] Result<SimResult> replay_in_leases(const LeaseSetup& setup);

}  // namespace tidepool::sim
