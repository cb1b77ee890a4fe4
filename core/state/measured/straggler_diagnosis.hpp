// What a worker's slowness is associated with: the process, its node, or the data of its place in the job. Safe rule:
// evidence that is not conclusive gives kUnknown; it is never taken for a fault of the worker.
//
// In production most slowness is not the fault of a machine (Lin et al., OSDI 2025: worker faults explain most of it in
// 1.7 % of the straggling jobs), so the cause is tested before anything is replaced, and especially afterwards: if a
// joining worker that replaced a straggler is slow from its beginning, the old worker was not the cause.
#pragma once

#include <string_view>

#include "core/state/cluster_state.hpp"
#include "core/state/reasons/straggler_cause.hpp"

namespace tidepool::core {

struct Diagnosis {
  Follows follows = Follows::kUnknown;
  int node_peers = 0;     // other workers on its node, of any job, whose pace is known
  int node_slow = 0;      // of those: stragglers
  double node_speed = 0;  // speed of its node by its own probe, as a share of the expected speed; 0 = not measured
};

// Steps after which a worker's pace is known, and within which a joining worker counts as slow from its beginning.
inline constexpr std::int64_t kStepsToKnow = 20;

[[nodiscard]] Diagnosis diagnose(const ClusterState& state, const Worker& slow);

[[nodiscard]] std::string_view to_text(Follows follows);

}  // namespace tidepool::core
