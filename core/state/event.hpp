// Events: what users and dashboards see of facts and decisions, in past tense and numbered without gaps. Events are
// derived from the journal, so the same journal gives the same events.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace tidepool::core {

struct Event {
  EventSeq seq = 0;
  Instant at;
  std::string type;  // "job.resized"; the closed list is in api/openapi.yaml
  std::optional<JobId> job;
  std::optional<NodeId> node;
  std::string tenant;  // empty if none
  std::optional<DecisionId> decision;
  nlohmann::json data = nlohmann::json::object();
  std::string actor =
      {};  // token of the user's command that it follows from; empty: none. Not derived: the turn adds it
};

}  // namespace tidepool::core
