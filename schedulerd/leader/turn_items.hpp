// What a turn of the daemon takes in, in the order in which it came: what agents say, in the types of the worker
// protocol with their sender, what users ask for, and the answers of policy files.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "core/state/policy_deployment.hpp"
#include "schedulerd/leader/commands.hpp"

namespace tidepool::leader {

using SessionNumber = std::uint64_t;  // of an agent's connection; never used twice

// An agent with the right token has introduced itself.
struct AgentHelloItem {
  SessionNumber session = 0;
  api::AgentHello hello;
};
// An agent has been away or silent beyond its patience.
struct AgentLostItem {
  std::string node;
  std::string why;
};
struct WorkerExitedItem {
  NodeId node;
  api::WorkerExitedReport report;
};
struct FromWorkerItem {
  NodeId node;
  api::FromWorkerReport report;
};
struct WorkerStuckItem {
  NodeId node;
  api::WorkerStuckReport report;
};
struct NodeProbedItem {
  NodeId node;
  api::ProbedReport report;
};
struct KeptJobsItem {
  NodeId node;
  api::KeptJobsReport report;
};
// What the active policy file has answered, or why it has not.
struct PolicyRoundItem {
  core::PolicyRound round;
};
using TurnItem = std::variant<Command, AgentHelloItem, AgentLostItem, WorkerExitedItem, FromWorkerItem, WorkerStuckItem,
                              NodeProbedItem, KeptJobsItem, PolicyRoundItem>;

}  // namespace tidepool::leader
