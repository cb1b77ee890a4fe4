// The result of a turn. Rule: rows first, in one commit; everything else leaves the daemon only once that is durable.
// If the commit fails, the turn has not happened, and the engine is ahead of the disk: drop it, recover.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "schedulerd/leader/keyed_rows.hpp"
#include "schedulerd/leader/turn_items.hpp"
#include "schedulerd/leader/turn_notes.hpp"
#include "schedulerd/leader/turn_rows.hpp"

namespace tidepool::leader {

// The answer to a command of the turn, by its index among the items.
struct Answer {
  std::size_t item = 0;
  Result<Receipt> receipt;
};
// Admits an agent and sends it what it may have missed.
struct Admission {
  SessionNumber session = 0;
  NodeId node;
  std::vector<api::DaemonToAgent> orders;
  std::vector<WorkerId> lost = {};  // running workers that the journal, an older copy, does not know
};
struct AgentRefusal {
  SessionNumber session = 0;
  std::string why;
};
// Dropped if the node is not connected: what matters is sent again when it reconnects.
struct NodeMessage {
  NodeId node;
  api::DaemonToAgent message;
};
// Sign and send the certificate that the session has requested, under this name.
struct CertificateGrant {
  SessionNumber session = 0;
  std::string node;
};
// Closes the node's link.
struct NodeExpulsion {
  std::string node;
  std::string why;
};
using TurnOrder = std::variant<Admission, AgentRefusal, NodeMessage, CertificateGrant, NodeExpulsion>;

struct TurnResult {
  std::vector<TurnRow> rows;
  KeyedRows keyed;  // the rows that later turns may look up before they are durable
  std::vector<Answer> answers;
  std::vector<TurnOrder> orders;
  std::vector<TurnNote> notes;
  bool changed = false;  // the state, or other data for readers
  bool planned = false;  // something was decided
  // A question that must be put to the active policy file now; report that to DaemonTurn::await().
  std::optional<std::int64_t> policy_request;
};

}  // namespace tidepool::leader
