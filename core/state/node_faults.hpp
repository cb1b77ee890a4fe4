// When a node that fails again and again gets no new workers until it has been steady for a while: the damping of
// flapping routes (RFC 2439), for nodes.
//
// Rule: a fault adds 1 to the node's penalty, which halves every `half_life`. Once it is `suppress` or more the node is
// unsteady: it keeps the workers that it has and gets no new ones. It is steady again when the penalty has fallen to
// `reuse`, half_life * log2(penalty / reuse) after its newest fault and `longest` after it at the latest. With the
// numbers below that is three faults within 14 minutes, and then 14 minutes without one. Until the penalty is down to
// half of `reuse` and the faults are forgotten, 14 minutes after a single one, no job is moved to the node that can do
// without the move.
#pragma once

#include <optional>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace tidepool::core {

struct NodeDamping {
  Duration half_life;  // zero: off
  double suppress = 2;
  double reuse = 0.75;
  Duration longest = Duration::seconds(3600);
  bool operator==(const NodeDamping&) const = default;

  [[nodiscard]] bool is_on() const { return half_life > Duration(); }
};
inline constexpr NodeDamping kUsualDamping{.half_life = Duration::seconds(600)};

// What counts as a fault: that the node's agent is lost while nothing has announced it, and that a worker of a job that
// has run before ends there before it is ready. Of one job's failures to start in a row only the first counts, until it
// is forgotten: a broken job makes no node unsteady. Each counts, of any job, where the agent could start nothing.
struct NodeFaults {
  double penalty = 0;  // at newest_at
  Instant first_at;    // of those that are counted here: the penalty was forgotten before it
  Instant newest_at;
  int losses = 0;
  int failed_starts = 0;
  JobId failed_job = {};              // whose worker failed to start there last, and none has become ready since
  std::optional<Instant> until = {};  // it is unsteady until then
};

}  // namespace tidepool::core
