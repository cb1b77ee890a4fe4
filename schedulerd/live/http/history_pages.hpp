// Pages of decisions and events out of the journal, cut to what the caller may see.
#pragma once

#include <optional>

#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

// Newest first; of one job if given.
void reply_decisions(Rest& rest, const Call& call, std::optional<JobId> job);

// From ?after or ?cursor on, oldest first or as ?order says; of one job or node, and of one ?type, if given.
struct EventsOf {
  std::optional<JobId> job = {};
  std::optional<NodeId> node = {};  // not beside `job`
};
void reply_events(Rest& rest, const Call& call, const EventsOf& of);

}  // namespace tidepool::live::http
