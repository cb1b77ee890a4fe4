// Deadlines as promises: a job with a deadline is accepted if every job accepted before still ends in time with it, and
// it then has, at any price, the size that its plan gives it now; a new job for which no such plan exists is declined.
// The plans are those of least size of Gu et al., "ElasticFlow", ASPLOS 2023, section 4.1 (cluster/deadline_plan.hpp);
// what is left over now goes to the market, where accepted jobs bid for more than was promised. This differs from the
// paper: new jobs are accepted one by one, the job with the least slot time first, instead of all or none, and a job
// that has fallen behind requests no more than others do. Where there are many deadlines, a round is limited to a
// number of looks: plans then change sizes at longer steps, and once the looks are spent, a new job is accepted only
// into what the plans of all others leave. Pure; a job's mark of level 1 = accepted.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/decide/step_budget.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/utility_curve.hpp"

namespace tidepool::policies::tidal {

inline constexpr int kAccepted = 1;  // Mark::level

// How long after its deadline a declined job could end at the earliest; -1 = not known.
struct Lateness {
  double beside_s = -1;  // with what is promised to no other job
  double alone_s = -1;   // with everything that can be promised; 0 = in time
};

struct Promises {
  std::vector<int> sizes;         // per row: the size that it has at any price; 0 = nothing is promised for now
  std::vector<bool> accepted;     // per row: its deadline is planned for
  std::vector<bool> declined;     // per row: it is too late, or the cluster is too full for it
  std::vector<Lateness> late;     // per row, of the declined jobs
  std::optional<Instant> change;  // when a plan changes a size next

  [[nodiscard]] bool none() const { return accepted.empty(); }
};

// It can be promised its deadline.
[[nodiscard]] bool has_promise(const cluster::JobRow& job);
// Slots that a job without a promise has, whatever others want.
[[nodiscard]] int kept_by(const cluster::JobRow& job);

// A round of promises.
struct Asking {
  static constexpr std::int64_t kAllLooks = std::numeric_limits<std::int64_t>::max();
  std::vector<const cluster::JobRow*> jobs;  // each has a deadline and known work
  SlotPool pool;
  int room = 0;                    // slots that can be promised
  std::int64_t looks = kAllLooks;  // at steps of plans, approximately
};
// Per job, in their order.
[[nodiscard]] Promises promises_of(const Asking& asking, core::StepBudget& budget);

// Per row. None where no job has both a deadline and known work.
[[nodiscard]] Promises promises_of(const cluster::View& view, core::StepBudget& budget);

}  // namespace tidepool::policies::tidal
