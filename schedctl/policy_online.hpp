// `schedctl policy shadow|diff|activate|rollback` and the deployment: policy files in the daemon. A path is read here,
// sent as a version (its hash is its name, so the same file twice is one version), and then meant by that version.
#pragma once

#include "schedctl/app.hpp"

namespace tidepool::ctl {

// Adds to the group `policy`, which must be there already.
void add_policy_online_commands(CLI::App& app, Chosen& chosen);

}  // namespace tidepool::ctl
