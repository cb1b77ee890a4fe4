// Nodes by a program of the operator: one call is one run of it, with a JSON object on its stdin and one on its stdout.
// The protocol is described in docs/providers.md.
#pragma once

#include <memory>

#include "schedulerd/live/providers/node_provider.hpp"

namespace tidepool::live {

[[nodiscard]] std::unique_ptr<NodeProvider> make_exec_provider(ProviderSetup setup);

}  // namespace tidepool::live
