// The data of each event, field by field as documented in api/examples/events.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

// {code, numbers, text}
[[nodiscard]] nlohmann::json reason_data(const Reason& reason);

[[nodiscard]] nlohmann::json submitted_data(const JobSpec& spec);
[[nodiscard]] nlohmann::json progressed_data(const Job& job, const StepsMeasured& report);
[[nodiscard]] nlohmann::json finished_data(const Job& job);
[[nodiscard]] nlohmann::json resizing_data(const Transition& transition);
// `measured` is false if the report was lost in transit; its numbers are then 0.
[[nodiscard]] nlohmann::json switched_data(const Job& job, const GenerationSwitched& fact, bool measured);
[[nodiscard]] nlohmann::json rebalanced_data(const Job& job, const SharesChanged& fact);
[[nodiscard]] nlohmann::json suspended_data(const Job& job);
[[nodiscard]] nlohmann::json changed_data(const JobSpec& spec);
[[nodiscard]] nlohmann::json probed_data(const ClusterState& state, const Node& node);
// From the reason why a straggler is replaced or kept.
[[nodiscard]] nlohmann::json straggling_data(const Reason& reason, const std::string& detector);
// For an answer that the state has accepted; `before`: the worker's deadline before the answer.
[[nodiscard]] nlohmann::json answered_data(const ClusterState& state, const NoticeAnswered& fact, Instant before);
[[nodiscard]] nlohmann::json decision_data(const Decision& decision, const ClusterState& state);

}  // namespace tidepool::core
