// What a turn of the daemon takes in, in the order in which it came: what agents say, in the types of the worker
// protocol with their sender, what users ask for, and the answers of policy files.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "core/state/fact.hpp"
#include "core/state/policy_deployment.hpp"
#include "schedulerd/leader/commands.hpp"

namespace tidepool::leader {

using SessionNumber = std::uint64_t;  // of an agent's connection; never used twice

// An agent that may come in has introduced itself.
struct AgentHelloItem {
  SessionNumber session = 0;
  api::AgentHello hello;
  // Of the key with whose certificate it came, which is good now and for that node name; empty = it has shown the
  // agents' shared token.
  std::string key_sha256 = {};
};
// A machine asks for a certificate with a node token, and has proven that it has this key.
struct NodeJoinItem {
  SessionNumber session = 0;
  std::string token_id;
  std::string secret_sha256;
  std::string node;
  std::string key_sha256;
  Duration lifetime;  // of the certificate
};
// A node asks for a new certificate of the key with which it came.
struct NodeRenewalItem {
  SessionNumber session = 0;
  std::string node;
  std::string key_sha256;
  Duration lifetime;
};
// An agent has been away or silent beyond its patience, or is being stopped.
struct AgentLostItem {
  std::string node;
  std::string why;
  bool stopped = false;  // as core::NodeLost::stopped
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
struct SlotsHeldItem {
  NodeId node;
  api::SlotsHeldReport report;
};
struct NodeProbedItem {
  NodeId node;
  api::ProbedReport report;
};
struct KeptJobsItem {
  NodeId node;
  api::KeptJobsReport report;
};
struct NodeReclaimItem {
  NodeId node;
  api::ReclaimReport report;
};
// What an agent says of a saved state that it waits for, has got, or is to hand over.
using StateReport = std::variant<api::StateWantedReport, api::StateOfferedReport, api::StateRefusedReport,
                                 api::StateBroughtReport, api::StateLeftReport>;
struct StateReportItem {
  NodeId node;
  StateReport report;
};
// What the active policy file has answered, or why it has not.
struct PolicyRoundItem {
  core::PolicyRound round;
};
// What the daemon's configuration says of pools, and what their providers answer.
using PoolReport =
    std::variant<core::PoolsConfigured, core::PoolNodeCreated, core::PoolNodeCreateFailed, core::PoolNodeDeleted,
                 core::PoolNodeDeleteFailed, core::PoolListed, core::PoolListFailed>;
struct PoolReportItem {
  PoolReport report;
};
using TurnItem = std::variant<Command, AgentHelloItem, AgentLostItem, WorkerExitedItem, FromWorkerItem, WorkerStuckItem,
                              SlotsHeldItem, NodeProbedItem, KeptJobsItem, NodeReclaimItem, PolicyRoundItem,
                              NodeJoinItem, NodeRenewalItem, PoolReportItem, StateReportItem>;

}  // namespace tidepool::leader
