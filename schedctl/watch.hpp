// Follows one job until it ends and prints what happens to it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "schedctl/session.hpp"

namespace tidepool::ctl {

struct WatchOptions {
  bool summary = false;
  std::optional<std::chrono::seconds> within;  // stop after this time, with kExitTimeout
};

// kExitOk only if the job succeeded, kExitNegative if it ended otherwise.
[[nodiscard]] int watch_job(Session& session, const std::string& job, const WatchOptions& options);

}  // namespace tidepool::ctl
