// Reasons that the engine derives from a policy's reason, for what it carries out of it. For people only: nothing is
// decided by them.
#pragma once

#include <functional>
#include <vector>

#include "core/state/plan.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// Why a job goes from one size to another that its policy asks for: the policy's reason with these sizes, if it is one
// of such a change. Plans are carried out later, and in part: then the policy's words are of another change.
[[nodiscard]] Reason reason_of_change(const Reason& wished, int from, int to);
// Why a job is to hold nothing.
[[nodiscard]] Reason reason_of_preemption(const Reason& wished);
// Why a job starts with so many workers: what a policy file has said, unless the start itself has something more to
// say.
[[nodiscard]] Reason reason_of_start(const Reason& wished, Reason of_start, int size);

// A job gives up slots and goes on: the jobs that are to have them are told, too, where the reason is one of a change
// for others. One that says that the size itself did not pay, or that its user or an operator wanted it, stays as it
// is.
[[nodiscard]] Reason told_for(Reason reason, const reason::Claimants& claimants);
// The same of the rule by which slots go to a job of another tenant, where the reason names that job.
[[nodiscard]] Reason told_by(Reason reason, const reason::ShareRule& rule);
// Those that it tells.
[[nodiscard]] reason::Claimants claimants_in(const Reason& reason);

// Where a reason to wait tells how many slots are free on whatever nodes the job may be: so many. Asked only then.
void tell_free_slots(Reason& reason, const std::function<int()>& free);

// The reason with its sizes in workers instead of slots; numbers that are not finite become 0.
[[nodiscard]] Reason in_workers(Reason reason, int slots_per_worker);
// The same of a reason that is told of a job's way between two sizes: of a change that in whole workers is none,
// `unchanged`; a policy file's own word tells the sizes.
struct SizesInWorkers {
  int slots_per_worker = 1;
  int from = 0;  // workers
  int to = 0;
  Reason unchanged = {};
};
[[nodiscard]] Reason in_workers(const Reason& reason, const SizesInWorkers& sizes);
// Sizes that lost. Part of a worker more or less is no other size, so reasons of such a change go.
[[nodiscard]] std::vector<Alternative> in_workers(std::vector<Alternative> lost, int slots_per_worker);

}  // namespace tidepool::core
