// What a turn logs for operators in addition to its events: what it has refused, ignored or abandoned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "core/state/policy_deployment.hpp"

namespace tidepool::leader {

struct AgentJoinedNote {
  NodeId node;
  std::string name;
  std::size_t workers = 0;
};
struct AgentRefusedNote {
  std::string name;
  std::string why;
};
// A node runs workers whose start is not in the journal: an older copy of the journal was restored.
struct JournalWentBackNote {
  std::string name;
  std::vector<WorkerId> lost;
};
struct NodeLostNote {
  NodeId node;
  std::string name;
  std::string why;
};
// A worker's message from a node on which the worker does not run.
struct ReportIgnoredNote {
  WorkerId worker;
};
// The engine has refused a report.
struct ReportRefusedNote {
  enum class Of { kExit, kMessage, kStuck, kHeld, kProbe, kReclaim };
  Of of = Of::kMessage;
  WorkerId worker;  // none for kProbe and kReclaim
  NodeId node;
  std::string why;
};
struct WorkerStuckNote {
  api::WorkerStuckReport report;
};
struct SlotsHeldNote {
  api::SlotsHeldReport report;
};
// The engine's own plan breaks an invariant: none of it is carried out.
struct PlanDroppedNote {
  std::string policy;
  std::string why;
};
// Its job's document does not say what to run, or the order does not fit into a message.
struct StartImpossibleNote {
  WorkerId worker;
  std::string why;
};
struct PolicyAnswerLateNote {
  std::int64_t round = 0;
  std::int64_t awaited = 0;
};
struct PolicyFailedNote {
  core::PolicyFileRef policy;
  std::string code;
  std::string why;
};
// A machine has joined, or a node's certificate was renewed.
struct NodeCertifiedNote {
  std::string name;
  std::string token_id;  // with which it joined; empty = renewed
};
struct NodeJoinRefusedNote {
  std::string name;
  std::string token_id;  // as sent; empty: a renewal
  std::string why;
};
struct NodeRevokedNote {
  std::string name;
  std::string reason;
};
// Contradictory data of a provider or the configuration of pools.
struct PoolReportRefusedNote {
  std::string why;
};
using TurnNote = std::variant<AgentJoinedNote, AgentRefusedNote, JournalWentBackNote, NodeLostNote, ReportIgnoredNote,
                              ReportRefusedNote, WorkerStuckNote, SlotsHeldNote, PlanDroppedNote, StartImpossibleNote,
                              PolicyAnswerLateNote, PolicyFailedNote, NodeCertifiedNote, NodeJoinRefusedNote,
                              NodeRevokedNote, PoolReportRefusedNote>;

}  // namespace tidepool::leader
