// The messages between the simulated daemon, its clients and its nodes. Between a node and the daemon it is the worker
// protocol (api/worker_protocol.hpp) without encoding; clients send what the REST interface carries. Messages in flight
// are lost when a link breaks.
#pragma once

#include <string>
#include <variant>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "core/state/fact.hpp"
#include "core/state/job_spec.hpp"
#include "schedulerd/leader/turn_items.hpp"

namespace tidepool::sim {

// A client's submission; `key` makes it safe to repeat one without an answer.
struct Submit {
  std::string key;
  core::JobSpec spec;
};
struct FromNode {
  int node = 0;  // index in the cluster
  api::AgentToDaemon message;
};
// A timer of the daemon: an agent has been silent for longer than its limit.
struct AgentSilent {
  int node = 0;
  std::string name;
};
// A user cordons the node, or ends that.
struct CordonNode {
  int node = 0;
  bool cordoned = true;
};
// A user's request for a job that the daemon has acknowledged.
using UserWish = std::variant<core::JobResizeRequested, core::JobSuspendRequested, core::JobResumeRequested,
                              core::JobCancelRequested>;
// The operator sets the tree of tenants.
struct SetTenants {
  core::TenantTree tree;
};
// The operator activates this policy file.
struct ActivateFile {
  core::PolicyFileRef file;
};
// The configuration of pools, and the answers of their providers, are `leader::PoolReport`.
using Incoming =
    std::variant<Submit, FromNode, AgentSilent, CordonNode, SetTenants, ActivateFile, UserWish, leader::PoolReport>;

struct ToNode {
  int node = 0;
  api::DaemonToAgent message;
};
// The durable answer to a Submit.
struct Submitted {
  std::string key;
  JobId job;
};
using Outgoing = std::variant<ToNode, Submitted>;

}  // namespace tidepool::sim
