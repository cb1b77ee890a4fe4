// What a turn comes to. Rule: rows first, in one commit; once it is durable, and only then, everything else leaves the
// daemon. If the commit fails the turn has not happened, and the engine is ahead of the disk: drop it, recover.
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

// To a command of the turn, by its place among the items.
struct Answer {
  std::size_t item = 0;
  Result<Receipt> receipt;
};
// Lets an agent in and tells it what it may have missed.
struct Admission {
  SessionNumber session = 0;
  NodeId node;
  std::vector<api::DaemonToAgent> orders;
  std::vector<WorkerId> lost = {};  // that it runs, and that the journal does not know: it went back
};
struct AgentRefusal {
  SessionNumber session = 0;
  std::string why;
};
// Dropped if the node is not connected: what matters is said again when it is.
struct NodeMessage {
  NodeId node;
  api::DaemonToAgent message;
};
// The certificate that the session has asked for is to be signed and sent, under this name.
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
  KeyedRows keyed;  // of the rows, what later turns may ask for before they are durable
  std::vector<Answer> answers;
  std::vector<TurnOrder> orders;
  std::vector<TurnNote> notes;
  bool changed = false;  // the state, or what readers see beside it
  bool planned = false;  // something was decided
  // Of the active policy file: to be asked now; say so to DaemonTurn::await().
  std::optional<std::int64_t> policy_request;
};

}  // namespace tidepool::leader
