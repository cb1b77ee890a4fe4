// Nodes by a program of the operator: one call is one run of it, with a JSON object on its stdin and one on its stdout.
// The protocol is described in docs/providers.md.
#pragma once

#include <memory>

#include "schedulerd/live/providers/provider_table.hpp"

namespace tidepool::live {

void check_exec_command(const ProviderFields& fields, ObjectReader& in);
[[nodiscard]] std::unique_ptr<NodeProvider> make_exec_provider(ProviderSetup setup);

}  // namespace tidepool::live
