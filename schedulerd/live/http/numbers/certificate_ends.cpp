#include "schedulerd/live/http/numbers/certificate_ends.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "schedulerd/live/service/clock.hpp"

namespace tidepool::live::http {

std::optional<std::int64_t> first_node_end(const Published& seen, const std::vector<NodeCredential>& known) {
  std::set<std::string_view> up;
  for (const auto& [id, node] : seen.state.nodes) {
    if (node.state == core::NodeState::kUp) up.insert(node.name);
  }
  std::optional<std::int64_t> first;
  for (const NodeCredential& credential : known) {
    if (credential.revoked_at || !up.contains(credential.node)) continue;
    const std::int64_t end = unix_seconds(seen.clock, credential.valid_until);
    first = std::min(first.value_or(end), end);
  }
  return first;
}

}  // namespace tidepool::live::http
