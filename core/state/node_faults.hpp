// When a node that fails repeatedly gets no new workers until it has been steady for a while: the damping of flapping
// routes (RFC 2439), applied to nodes.
//
// Rule: a fault adds 1 to the node's penalty, which halves every `half_life`. At a penalty of `suppress` or more the
// node is unsteady: it keeps its workers and gets no new ones. It is steady again when the penalty has fallen to
// `reuse`, half_life * log2(penalty / reuse) after its newest fault and at the latest `longest` after it. With the
// numbers below, three faults within 14 minutes make it unsteady, and 14 minutes without a fault make it steady again.
// Until the penalty has fallen to half of `reuse` and the faults are forgotten (14 minutes after a single fault), no
// job is moved to the node if the move can be avoided.
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

// A fault is: the node's agent is lost without an announcement; or a worker of a job that has run before ends there
// before it is ready. Of one job's consecutive failures to start only the first counts, until it is forgotten: a broken
// job makes no node unsteady. If the agent could start nothing, each failure of any job counts.
struct NodeFaults {
  double penalty = 0;  // at newest_at
  Instant first_at;    // oldest of the counted faults: the penalty was forgotten before it
  Instant newest_at;
  int losses = 0;
  int failed_starts = 0;
  JobId failed_job = {};              // its worker last failed to start there, and none has become ready since
  std::optional<Instant> until = {};  // the node is unsteady until then
};

}  // namespace tidepool::core
