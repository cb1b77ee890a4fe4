// The sizes that a job may take now, as a ladder: its allowed sizes without those that its batch or its price cap
// forbids. Every size that a policy requests comes from here.
#pragma once

#include <optional>
#include <span>

#include "base/money.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::policies {

struct AllowedSizes {
  std::span<const int> sizes;  // ascending, those of the job's specification; empty if even the smallest is forbidden
  bool cut_short = false;      // allowed sizes above the last one are forbidden, for the reason `cut`
  core::Reason cut;

  [[nodiscard]] bool has(int size) const;
  // The smallest size at least `by` above `from`; else the largest; nothing if that is not above `from`.
  [[nodiscard]] std::optional<int> up(int from, int by) const;
  // The same downwards.
  [[nodiscard]] std::optional<int> down(int from, int by) const;
  // The largest size not above `preferred`, else the smallest. Requires: sizes is not empty.
  [[nodiscard]] int start_size(int preferred) const;
};

// A size is forbidden when it leaves a worker without a sample (size > global batch), when all its slots together cost
// more an hour than the job's price cap (for a job that holds nothing: each as much as the cheapest), or when the
// budget of its tenant allows only its smallest size.
[[nodiscard]] AllowedSizes ladder_of(const core::ClusterState& state, const core::Job& job);

// What one slot costs this job an hour: the mean over the slots it holds, or, while it holds none, over all
// slots of nodes that are up; rounded down to a millionth.
[[nodiscard]] Money price_per_slot_hour(const core::ClusterState& state, const core::Job& job);

}  // namespace tidepool::policies
