// The input and output of the loop. Everything that reaches the engine comes through the inbox, everything that leaves
// after a commit goes through the outbox.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "policies/host/file_round.hpp"
#include "schedulerd/leader/turn_items.hpp"
#include "schedulerd/leader/turn_result.hpp"
#include "schedulerd/live/service/event_queue.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

// --- in: what a turn takes (schedulerd/leader/turn_items.hpp), and what only its shell is concerned with -----------

using leader::AgentHelloItem;
using leader::AgentLostItem;
using leader::FromWorkerItem;
using leader::KeptJobsItem;
using leader::NodeJoinItem;
using leader::NodeProbedItem;
using leader::NodeReclaimItem;
using leader::NodeRenewalItem;
using leader::PolicyRoundItem;
using leader::PoolReportItem;
using leader::SessionNumber;
using leader::SlotsHeldItem;
using leader::StateReportItem;
using leader::WorkerExitedItem;
using leader::WorkerStuckItem;

struct CommandItem {
  Command command;
  std::function<void(Result<Receipt>)> done;  // called once, after the commit
};
// How the shadow's answer differs from the decision.
struct PolicyComparedItem {
  core::PolicyFileRef file;
  policies::host::RoundComparison comparison;
};
using InboxItem =
    std::variant<CommandItem, AgentHelloItem, AgentLostItem, WorkerExitedItem, FromWorkerItem, WorkerStuckItem,
                 SlotsHeldItem, NodeProbedItem, KeptJobsItem, NodeReclaimItem, PolicyRoundItem, PolicyComparedItem,
                 NodeJoinItem, NodeRenewalItem, PoolReportItem, StateReportItem>;
using Inbox = EventQueue<InboxItem>;

// A batch of submits weighs as much as its jobs one by one.
[[nodiscard]] inline std::size_t weight_of(const InboxItem& item) {
  const auto* command = std::get_if<CommandItem>(&item);
  const auto* batch = command == nullptr ? nullptr : std::get_if<leader::SubmitJobs>(&command->command.body);
  return batch == nullptr ? 1 : std::max<std::size_t>(1, batch->specs.size());
}

// --- out (schedulerd/leader/turn_result.hpp) -------------------------------------------------------

using leader::Admission;
using leader::AgentRefusal;
using leader::CertificateGrant;
using leader::NodeExpulsion;
using NodeOrder = leader::NodeMessage;
using OutboxItem = leader::TurnOrder;

class Outbox {
 public:
  virtual ~Outbox() = default;
  // Called on the writer's thread after the commit, in the order of turns; must not wait.
  virtual void post(std::vector<OutboxItem> items) = 0;
};

}  // namespace tidepool::live
