// The input of a turn, in order of arrival: messages of agents, in the types of the worker protocol with their sender,
// requests of users, and answers of policy files.
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

// An admitted agent has introduced itself.
struct AgentHelloItem {
  SessionNumber session = 0;
  api::AgentHello hello;
  // The key of the certificate that it presented, valid now and for that node name; empty = it presented the agents'
  // shared token.
  std::string key_sha256 = {};
};
// A machine requests a certificate with a node token, and has proven that it has this key.
struct NodeJoinItem {
  SessionNumber session = 0;
  std::string token_id;
  std::string secret_sha256;
  std::string node;
  std::string key_sha256;
  Duration lifetime;  // of the certificate
};
// A node requests a new certificate for the key with which it connected.
struct NodeRenewalItem {
  SessionNumber session = 0;
  std::string node;
  std::string key_sha256;
  Duration lifetime;
};
// An agent was away or silent for longer than its patience, or is being stopped.
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
// A report about a saved state that the agent waits for, has received, or must hand over.
using StateReport = std::variant<api::StateWantedReport, api::StateOfferedReport, api::StateRefusedReport,
                                 api::StateBroughtReport, api::StateLeftReport>;
struct StateReportItem {
  NodeId node;
  StateReport report;
};
// The answer of the active policy file, or why there is none.
struct PolicyRoundItem {
  core::PolicyRound round;
};
// The configuration of pools, and the answers of their providers.
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
