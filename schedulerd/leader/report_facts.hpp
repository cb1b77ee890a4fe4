// What agents and workers report, as facts. Pure.
//
// Rule: that the node may speak for the worker has been checked before (agent_reports.hpp); a worker's message is of
// its own job, whatever it says. What is said in words is cut (told()).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"

namespace tidepool::leader {

// What an agent or a program says in its own words, shortened to 1,024 bytes: it goes into the journal, into events
// and to other agents.
[[nodiscard]] std::string told(const std::string& text);

// An error refuses the agent; its message is sent to it.
[[nodiscard]] Result<core::Fact> fact_of_hello(const api::AgentHello& hello, NodeId node,
                                               std::map<std::string, std::string> labels = {});
[[nodiscard]] bool is_node_name(const std::string& name);
// What should be a node's name and may be anything, cut to what one is at most: for the log.
[[nodiscard]] std::string told_name(const std::string& name);
inline constexpr const char* kNodeNameRule = "a node's name has 1 to 63 letters, digits, '-', '.' or '_'";

[[nodiscard]] core::WorkerExited fact_of_exit(const api::WorkerExitedReport& report);

[[nodiscard]] core::NodeProbed fact_of_probe(const api::ProbedReport& report, NodeId node);
[[nodiscard]] core::NodeReclaimNoticed fact_of_reclaim(const api::ReclaimReport& report, NodeId node);
[[nodiscard]] core::SlotsHeld fact_of_held(const api::SlotsHeldReport& report);
[[nodiscard]] core::WorkerStuck fact_of_stuck(const api::WorkerStuckReport& report);

// None for messages that are no facts (an address told again, a link that is back).
[[nodiscard]] std::optional<core::Fact> fact_of_worker(const api::FromWorker& message, const core::Worker& worker);

}  // namespace tidepool::leader
