// The state in rows, as the journal stores it: one row for each node, worker, job, remembered end and past day of the
// pool's account, and a head for everything else. Parts that two states share (copy on write) are skipped, so the cost
// of the rows between them depends on the changes and not on the size of the state.
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

// The rows that may differ between two states, including all that do; by kind and id.
[[nodiscard]] std::vector<RowKey> rows_between(const ClusterState& before, const ClusterState& now);

// Canonical JSON of the differences from a blank row. Empty for a row that does not exist.
[[nodiscard]] std::string row_text(const ClusterState& state, RowKey key);
[[nodiscard]] std::string head_text(const ClusterState& state);

// Converts rows to a state. Refuses anything that row_text() and head_text() would not have written.
class StateFromRows {
 public:
  // Call once for each key.
  [[nodiscard]] Status put(RowKey key, std::string_view text);
  // Call once, after the rows. Fails if the whole is inconsistent.
  [[nodiscard]] Result<ClusterState> finish(std::string_view head) &&;

 private:
  ClusterState state_;
};

}  // namespace tidepool::core
