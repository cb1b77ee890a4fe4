// The clock of ElasticFlow's simulator (Gu et al., ASPLOS 2023): the policy is asked when a job arrives or ends and
// when it wished to be, but not again within a slot; what would fall into that time waits for the slot's end (only the
// very last event of a run does not). Each schedule is charged to jobs as the published run of the policy did: what a
// job is charged it stands still. Ends are whole seconds; a job's slots are idle from its end to the next decision.
// Pure but for the stopwatch's times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "studies/replay/replay_account.hpp"
#include "studies/replay/type_speeds.hpp"

namespace tidepool::sim {

struct DeadlineJob {
  std::string name;
  std::string application;
  double submitted_s = 0;
  double deadline_s = 0;
  double steps = 0;
  int size = 1;                        // wanted by its user
  int size_max = 1;                    // that a policy may give it
  const TypeSpeeds* speeds = nullptr;  // outlives the run
};

// Which jobs a schedule is charged to.
enum class Charge {
  kNone,
  kResumed,  // each that begins to hold slots; at a full restart, every job
  // Every job the base; each on slots that no job has used since the last full restart, all of it. Jobs end at the slot
  // boundary their plan said, plus the charge, even if the charge has kept them from their last steps; their end counts
  // as if they had done them. A change of plan at the time of the next planned end waits until that job has ended.
  kChanged,
  // Every job all of it. The policy is asked when jobs arrive and at no other time; after the last arrival each slot,
  // for nothing. A job that ended in between holds its slots until then.
  kArrivals,
};

struct SlotSetup {
  ReplayAccount::Setup account;
  std::vector<DeadlineJob> jobs;  // by submission
  Charge charge = Charge::kChanged;
  int slots = 0;  // of the cluster
  int slot_s = 60;
  double limit_s = 0;         // the run ends here whatever is left
  bool declared_work = true;  // whether the policy may know how much is left
};

struct SlotRun {
  SimResult result;
  std::int64_t jobs_looked_at = 0;  // by this clock, over all decisions; each decision costs in proportion to the jobs
};
[[nodiscard]] Result<SlotRun> replay_in_slots(const SlotSetup& setup);

}  // namespace tidepool::sim
