// When the certificates end by which daemon and nodes know each other, in Unix time by the daemon's wall clock. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

// Of the nodes that are up the one whose certificate ends first; none: none of them has one. Those that are away cannot
// renew theirs, and the others do so long before.
[[nodiscard]] std::optional<std::int64_t> first_node_end(const Published& seen,
                                                         const std::vector<NodeCredential>& known);

}  // namespace tidepool::live::http
