// Which jobs released the slots that a starting job gets: the slots that become free at the moment of its start. Slots
// that were free before have no such job.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"

namespace tidepool::forecast {

struct FreedBy {
  enum class How { kEnds, kGivesUpAll, kGivesUpSome };
  JobId job;
  How how = How::kEnds;
  bool operator==(const FreedBy&) const = default;
};
[[nodiscard]] const char* to_text(FreedBy::How how);  // "ends", "gives_up_all", "gives_up_some"

class FreedSlots {
 public:
  // The worker is about to exit, at `now`. No effect if it is not in the state.
  void note(const core::ClusterState& state, WorkerId worker, Instant now);
  // Which job freed the first of the slots that another job is given at `now`; none: all were free before.
  [[nodiscard]] std::optional<FreedBy> taken_by(const core::StartIntent& start, Instant now) const;

 private:
  struct Freed {
    NodeId node;
    std::vector<int> slots;
    FreedBy by;
  };
  [[nodiscard]] static bool is_given(const core::StartIntent& start, const Freed& freed);

  std::vector<Freed> freed_;  // at at_
  std::optional<Instant> at_;
};

}  // namespace tidepool::forecast
