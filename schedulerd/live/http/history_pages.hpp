// Pages of decisions and events out of the journal, cut to what the caller may see.
#pragma once

#include <optional>

#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

// Newest first; of one job if given.
void reply_decisions(Rest& rest, const Call& call, std::optional<JobId> job);

// Oldest first, from ?after or ?cursor on; of one job if given.
void reply_events(Rest& rest, const Call& call, std::optional<JobId> job);

}  // namespace tidepool::live::http
