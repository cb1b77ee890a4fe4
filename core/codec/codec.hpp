// Facts, decisions and the state as canonical JSON: what the journal stores, goldens show and
// recovery reads back. decode(encode(x)) == x for every x.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "core/state/fact.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// "job_submitted", "steps_measured", ...
[[nodiscard]] std::string_view name_of(const Fact& fact);

[[nodiscard]] nlohmann::json to_json(const Fact& fact);  // {"fact": "...", fields}
[[nodiscard]] nlohmann::json to_json(const Decision& decision);
[[nodiscard]] nlohmann::json to_json(const ClusterState& state);
[[nodiscard]] nlohmann::json to_json(const Reason& reason);  // {"code": "...", "numbers": {...}}
[[nodiscard]] nlohmann::json to_json(const JobSpec& spec);

// Refuse anything to_json would not have written; the journal is not trusted to be whole.
[[nodiscard]] Result<Fact> fact_from_json(const nlohmann::json& value);
[[nodiscard]] Result<Reason> reason_from_json(const nlohmann::json& value);
[[nodiscard]] Result<Decision> decision_from_json(const nlohmann::json& value);
[[nodiscard]] Result<ClusterState> state_from_json(const nlohmann::json& value);

// A fingerprint of the whole state: equal states, equal digests, on every machine.
[[nodiscard]] std::uint64_t digest_of(const ClusterState& state);

}  // namespace tidepool::core
