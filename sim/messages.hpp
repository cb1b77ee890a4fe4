// What passes between the simulated daemon, its clients and its nodes. Between a node and the daemon it is the worker
// protocol itself (api/worker_protocol.hpp), without its bytes; clients say what the REST interface carries. Anything
// in flight is lost when a link breaks.
#pragma once

#include <string>
#include <variant>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "core/state/fact.hpp"
#include "core/state/job_spec.hpp"
#include "schedulerd/leader/turn_items.hpp"

namespace tidepool::sim {

// A client's submission; `key` makes the retry of an unanswered one harmless.
struct Submit {
  std::string key;
  core::JobSpec spec;
};
struct FromNode {
  int node = 0;  // index in the cluster
  api::AgentToDaemon message;
};
// The daemon's own finding: an agent has been silent for longer than its patience.
struct AgentSilent {
  int node = 0;
  std::string name;
};
// The machine is to get no more work, as a user says; or that is over.
struct CordonNode {
  int node = 0;
  bool cordoned = true;
};
// What a user asks of a job that the daemon has acknowledged.
using UserWish = std::variant<core::JobResizeRequested, core::JobSuspendRequested, core::JobResumeRequested,
                              core::JobCancelRequested>;
// Who shares the cluster from now on, as its operator says.
struct SetTenants {
  core::TenantTree tree;
};
// This policy file decides from now on, as its operator says.
struct ActivateFile {
  core::PolicyFileRef file;
};
// What the daemon's configuration says of pools, and what their providers answer, is `leader::PoolReport`.
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
