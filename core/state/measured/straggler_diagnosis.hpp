// What a worker's slowness goes with: the process, its node, or the data that its place in the job is fed.
// Safe rule: evidence that says nothing gives kUnknown; it is never taken for a fault of the worker.
//
// In production most slowness is no machine's fault (Lin et al., OSDI 2025: worker faults explain most of it in 1.7 %
// of the straggling jobs), so it is tested before anything is replaced, and above all after it: a joining worker that
// took a straggler's place and is slow from its beginning shows that the worker was not the cause.
#pragma once

#include <string_view>

#include "core/state/cluster_state.hpp"
#include "core/state/reasons/straggler_cause.hpp"

namespace tidepool::core {

struct Diagnosis {
  Follows follows = Follows::kUnknown;
  int node_peers = 0;     // other workers on its node, of any job, whose pace is known
  int node_slow = 0;      // of those: stragglers
  double node_speed = 0;  // of its node by its own probe, as a share of what may be expected; 0 = not measured
};

// Steps after which a worker's pace is known, and within which a joining worker counts as slow from its beginning.
inline constexpr std::int64_t kStepsToKnow = 20;

[[nodiscard]] Diagnosis diagnose(const ClusterState& state, const Worker& slow);

[[nodiscard]] std::string_view to_text(Follows follows);

}  // namespace tidepool::core
