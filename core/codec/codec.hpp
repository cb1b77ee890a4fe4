// Facts, decisions and the state as canonical JSON: the journal stores it, goldens show it, and recovery reads it.
// decode(encode(x)) == x for every x.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "core/state/fact.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// Documents that we wrote ourselves may be as large as the cluster makes them; a digest protects them.
inline constexpr JsonLimits kOwnJson{.bytes_max = 1U << 30U, .depth_max = 64, .values_max = 1U << 30U};

// "job_submitted", "steps_measured", ...
[[nodiscard]] std::string_view name_of(const Fact& fact);

[[nodiscard]] nlohmann::json to_json(const Fact& fact);  // {"fact": "...", fields}
[[nodiscard]] nlohmann::json to_json(const Decision& decision);
[[nodiscard]] nlohmann::json to_json(const ClusterState& state);
[[nodiscard]] nlohmann::json to_json(const Reason& reason);  // {"code": "...", "numbers": {...}}
[[nodiscard]] nlohmann::json to_json(const JobSpec& spec);

// Refuse anything that to_json would not have written; the journal is not trusted to be intact.
[[nodiscard]] Result<Fact> fact_from_json(const nlohmann::json& value);
[[nodiscard]] Result<Reason> reason_from_json(const nlohmann::json& value);
[[nodiscard]] Result<Decision> decision_from_json(const nlohmann::json& value);
[[nodiscard]] Result<ClusterState> state_from_json(const nlohmann::json& value);

// One complete job in compact form: whatever equals a blank job is omitted.
[[nodiscard]] std::string job_text(const Job& job);
[[nodiscard]] Result<std::shared_ptr<const Job>> job_from_text(std::string_view text);

// A fingerprint of the whole state: equal states have equal digests on every machine.
[[nodiscard]] std::uint64_t digest_of(const ClusterState& state);

}  // namespace tidepool::core
