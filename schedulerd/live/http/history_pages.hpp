// Pages of decisions and events out of the journal, cut to what the caller may see.
#pragma once

#include <optional>

#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

// Newest first; of one job if given.
void reply_decisions(Rest& rest, const Call& call, std::optional<JobId> job);

// From ?after or ?cursor on, oldest first or as ?order says; of one job, and of one ?type, if given.
void reply_events(Rest& rest, const Call& call, std::optional<JobId> job);

}  // namespace tidepool::live::http
