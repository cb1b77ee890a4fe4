// The state in rows, as the journal keeps it: one for each node, worker, job, remembered end and day of the pool's
// account that is over, and a head for all the rest. What two states share (copy on write) is not looked at, so the
// rows between them cost what has changed and not what there is.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

enum class RowKind : std::uint8_t { kNode = 0, kWorker = 1, kJob = 2, kEnded = 3, kPoolDay = 4 };

struct RowKey {
  RowKind kind = RowKind::kNode;
  std::uint64_t id = 0;
  auto operator<=>(const RowKey&) const = default;
};

// The rows that may differ between two states, and all that do; by kind and id.
[[nodiscard]] std::vector<RowKey> rows_between(const ClusterState& before, const ClusterState& now);

// Canonical JSON of what sets it apart from a blank one. A row that is not there is empty.
[[nodiscard]] std::string row_text(const ClusterState& state, RowKey key);
[[nodiscard]] std::string head_text(const ClusterState& state);

// From rows to a state. Refuses what row_text() and head_text() would not have written.
class StateFromRows {
 public:
  // Each key once.
  [[nodiscard]] Status put(RowKey key, std::string_view text);
  // Once, after the rows. Fails if the whole contradicts itself.
  [[nodiscard]] Result<ClusterState> finish(std::string_view head) &&;

 private:
  ClusterState state_;
};

}  // namespace tidepool::core
