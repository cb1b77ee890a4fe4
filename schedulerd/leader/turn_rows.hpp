// What a turn writes to the journal, in order. All rows of a turn are one commit. Wall-clock times are added where the
// rows are written, because a turn knows only the daemon's own time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "core/state/fact.hpp"
#include "core/state/plan.hpp"
#include "schedulerd/leader/commands.hpp"
#include "schedulerd/leader/records.hpp"

namespace tidepool::leader {

// A recovery uses only these two; all others are for readers.
struct FactRow {
  core::TimedFact fact;
  std::vector<core::Event> events;
};
struct DecisionRow {
  core::Decision decision;
  std::vector<core::Event> events;
};
// The job has left the state; readers find it in the journal.
struct EndedJobRow {
  std::shared_ptr<const core::Job> job;
};
struct MetricRow {
  JobId job;
  MetricPoint point;
};
// A worker started by the preceding decision: readers may ask for its job and node after its end.
struct WorkerRow {
  core::Worker worker;
};
struct ReceiptRow {
  Idempotency request;
  Receipt receipt;
};
struct TokenRow {
  CreateToken token;
};
struct TokenRevokedRow {
  std::string token_id;
};
// An existing version stays as it is. `created_at` is empty.
struct PolicyVersionRow {
  PolicyVersion version;
};
// `checks.at` is empty.
struct PolicyChecksRow {
  std::string name;
  std::string version;
  PolicyChecks checks;
};
// Starts the comparison with a shadow policy; none = ends it.
struct ShadowRow {
  std::optional<core::PolicyFileRef> file;
};
// Replaces the row of the token or the node.
struct NodeTokenRow {
  NodeToken token;
};
struct NodeCredentialRow {
  NodeCredential credential;
};
using TurnRow =
    std::variant<FactRow, DecisionRow, EndedJobRow, MetricRow, WorkerRow, ReceiptRow, TokenRow, TokenRevokedRow,
                 PolicyVersionRow, PolicyChecksRow, ShadowRow, NodeTokenRow, NodeCredentialRow>;

}  // namespace tidepool::leader
