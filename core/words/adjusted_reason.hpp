// Reasons that the engine derives from a policy's reason, for the part of it that the engine carries out. For people
// only: no decision reads them.
#pragma once

#include <functional>
#include <vector>

#include "core/state/plan.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// Why a job changes from one size to another that its policy requests: the policy's reason with these sizes, if it is
// the reason of such a change. Plans are carried out later, and in part: then the policy's text is about another
// change.
[[nodiscard]] Reason reason_of_change(const Reason& wished, int from, int to);
// Why a job should hold no slots.
[[nodiscard]] Reason reason_of_preemption(const Reason& wished);
// Why a job starts with `size` workers: the reason of a policy file, unless the start itself has a more specific
// reason.
[[nodiscard]] Reason reason_of_start(const Reason& wished, Reason of_start, int size);

// For a job that releases slots and continues: adds the jobs that will get them, if the reason is one of a change for
// others. A reason that states that the size itself was not worth it, or that its user or an operator wanted it, stays
// unchanged.
[[nodiscard]] Reason with_claimants(Reason reason, const reason::Claimants& claimants);
// The same for the rule by which slots go to a job of another tenant, if the reason names that job.
[[nodiscard]] Reason with_share_rule(Reason reason, const reason::ShareRule& rule);
// The claimants that the reason names.
[[nodiscard]] reason::Claimants claimants_in(const Reason& reason);

// Sets the number of free slots in a waiting reason that counts them on all nodes that the job may use. `free` is
// called only then.
void fill_in_free_slots(Reason& reason, const std::function<int()>& free);

// The reason with its sizes in workers instead of slots; numbers that are not finite become 0.
[[nodiscard]] Reason in_workers(Reason reason, int slots_per_worker);
// The same for a reason about a job's change between two sizes: `unchanged` if the change is none in whole workers; a
// policy file's own word states the sizes.
struct SizesInWorkers {
  int slots_per_worker = 1;
  int from = 0;  // workers
  int to = 0;
  Reason unchanged = {};
};
[[nodiscard]] Reason in_workers(const Reason& reason, const SizesInWorkers& sizes);
// Sizes that lost. Part of a worker more or less is no other size, so reasons of such a change are removed.
[[nodiscard]] std::vector<Alternative> in_workers(std::vector<Alternative> lost, int slots_per_worker);

}  // namespace tidepool::core
