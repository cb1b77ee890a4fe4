// What the loop takes in and gives out. Everything that reaches the engine comes through the inbox,
// everything that leaves after a commit goes through the outbox.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "policies/host/file_round.hpp"
#include "schedulerd/live/service/event_queue.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

using SessionNumber = std::uint64_t;  // of an agent's connection; never used twice

// --- in -----------------------------------------------------------------------------------------
struct CommandItem {
  Command command;
  std::function<void(Result<Receipt>)> done;  // called once, after the commit
};
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
// How the shadow's answer differs from what was decided.
struct PolicyComparedItem {
  core::PolicyFileRef file;
  policies::host::RoundComparison comparison;
};
using InboxItem = std::variant<CommandItem, AgentHelloItem, AgentLostItem, WorkerExitedItem, FromWorkerItem,
                               WorkerStuckItem, NodeProbedItem, KeptJobsItem, PolicyRoundItem, PolicyComparedItem>;
using Inbox = EventQueue<InboxItem>;

// --- out ----------------------------------------------------------------------------------------
// Lets an agent in and tells it what it may have missed.
struct Admission {
  SessionNumber session = 0;
  NodeId node;
  std::vector<api::DaemonToAgent> orders;
};
struct AgentRefusal {
  SessionNumber session = 0;
  std::string why;
};
// Dropped if the node is not connected: what still applies is sent again when it is.
struct NodeOrder {
  NodeId node;
  api::DaemonToAgent message;
};
using OutboxItem = std::variant<Admission, AgentRefusal, NodeOrder>;

class Outbox {
 public:
  virtual ~Outbox() = default;
  // Called on the loop's thread after each commit, in order; must not wait.
  virtual void post(std::vector<OutboxItem> items) = 0;
};

}  // namespace tidepool::live
