// Converts reports of agents and workers to facts. Pure.
//
// Rule: agent_reports.hpp has checked that the node may speak for the worker; a worker's message counts for its own
// job, whatever it contains. Free text is shortened (told()).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"

namespace tidepool::leader {

// Free text of an agent or a program, shortened to 1,024 bytes: it goes into the journal, into events and to other
// agents.
[[nodiscard]] std::string told(const std::string& text);

// An error refuses the agent; its message is sent to it.
[[nodiscard]] Result<core::Fact> fact_of_hello(const api::AgentHello& hello, NodeId node,
                                               std::map<std::string, std::string> labels = {});
[[nodiscard]] bool is_node_name(const std::string& name);
// Text sent as a node's name, cut to the longest valid name: for the log.
[[nodiscard]] std::string logged_name(const std::string& name);
inline constexpr const char* kNodeNameRule = "a node's name has 1 to 63 letters, digits, '-', '.' or '_'";

[[nodiscard]] core::WorkerExited fact_of_exit(const api::WorkerExitedReport& report);

[[nodiscard]] core::NodeProbed fact_of_probe(const api::ProbedReport& report, NodeId node);
[[nodiscard]] core::NodeReclaimNoticed fact_of_reclaim(const api::ReclaimReport& report, NodeId node);
[[nodiscard]] core::SlotsHeld fact_of_held(const api::SlotsHeldReport& report);
[[nodiscard]] core::WorkerStuck fact_of_stuck(const api::WorkerStuckReport& report);

// None for messages that are no facts (a repeated address, a restored link).
[[nodiscard]] std::optional<core::Fact> fact_of_worker(const api::FromWorker& message, const core::Worker& worker);

}  // namespace tidepool::leader
