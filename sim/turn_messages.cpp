#include "sim/turn_messages.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/overloaded.hpp"
#include "sim/daemon.hpp"

namespace tidepool::sim {
namespace {

using leader::TurnItem;

// A link of the world is known by its node; that it is a new one is the simulator's to see.
leader::SessionNumber session_of(int node) {
  return static_cast<leader::SessionNumber>(node) + 1;
}

int node_of_session(leader::SessionNumber session) {
  return static_cast<int>(session) - 1;
}

TurnItem command_of(leader::CommandBody body, const std::string& key = "") {
  leader::Command command{.body = std::move(body), .actor = "simulated", .idempotency = {}};
  if (!key.empty()) command.idempotency = {.key = key, .token_id = "simulated", .request_hash = key};
  return command;
}

TurnItem item_of_message(const FromNode& from, NodeId node) {
  return std::visit(
      Overloaded{
          [&](const api::AgentHello& hello) -> TurnItem {
            return leader::AgentHelloItem{session_of(from.node), hello};
          },
          [&](const api::WorkerExitedReport& report) -> TurnItem { return leader::WorkerExitedItem{node, report}; },
          [&](const api::WorkerStuckReport& report) -> TurnItem { return leader::WorkerStuckItem{node, report}; },
          [&](const api::ReclaimReport& report) -> TurnItem { return leader::NodeReclaimItem{node, report}; },
          [&](const api::FromWorkerReport& report) -> TurnItem { return leader::FromWorkerItem{node, report}; },
          [&](const api::StateWantedReport& said) -> TurnItem { return leader::StateReportItem{node, said}; },
          [&](const api::StateOfferedReport& said) -> TurnItem { return leader::StateReportItem{node, said}; },
          [&](const api::StateRefusedReport& said) -> TurnItem { return leader::StateReportItem{node, said}; },
          [&](const api::StateBroughtReport& said) -> TurnItem { return leader::StateReportItem{node, said}; },
          [&](const api::StateLeftReport& said) -> TurnItem { return leader::StateReportItem{node, said}; },
          [](const auto&) -> TurnItem {
            TP_CHECK(false, "a simulated node says no such thing");
            return leader::AgentLostItem{};
          },
      },
      from.message);
}

TurnItem item_of_wish(const UserWish& wish) {
  return std::visit(
      Overloaded{
          [](const core::JobResizeRequested& wanted) { return command_of(leader::ResizeJob{wanted.job, wanted.size}); },
          [](const core::JobSuspendRequested& wanted) { return command_of(leader::SuspendJob{wanted.job}); },
          [](const core::JobResumeRequested& wanted) { return command_of(leader::ResumeJob{wanted.job}); },
          [](const core::JobCancelRequested& wanted) { return command_of(leader::CancelJob{wanted.job}); },
      },
      wish);
}

}  // namespace

void NodeIds::add(int node, NodeId id) {
  const auto place = static_cast<std::size_t>(node);
  if (ids_.size() <= place) ids_.resize(place + 1);
  ids_[place] = id;
  nodes_[id] = node;
}

NodeId NodeIds::of(int node) const {
  const auto place = static_cast<std::size_t>(node);
  return place < ids_.size() ? ids_[place] : NodeId();
}

std::optional<int> NodeIds::node_of(NodeId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? std::nullopt : std::optional(found->second);
}

TurnItem item_of(const Incoming& incoming, const NodeIds& ids) {
  return std::visit(
      Overloaded{
          [](const Submit& submit) { return command_of(leader::SubmitJob{submit.spec}, submit.key); },
          [&](const FromNode& from) { return item_of_message(from, ids.of(from.node)); },
          [](const AgentSilent& silent) -> TurnItem { return leader::AgentLostItem{silent.name, "no sign of life"}; },
          [&](const CordonNode& cordon) {
            return command_of(leader::CordonNode{ids.of(cordon.node), cordon.cordoned});
          },
          [](const SetTenants& set) { return command_of(leader::ConfigureTenants{set.tree}); },
          [](const ActivateFile& activate) { return command_of(leader::ActivatePolicy{activate.file}); },
          [](const UserWish& wish) { return item_of_wish(wish); },
          [](const leader::PoolReport& report) -> TurnItem { return leader::PoolReportItem{report}; },
      },
      incoming);
}

void pass_on(leader::TurnOrder order, NodeIds& ids, std::vector<Outgoing>& out) {
  std::visit(Overloaded{
                 [&](leader::Admission& admission) {
                   const int node = node_of_session(admission.session);
                   ids.add(node, admission.node);
                   TP_CHECK(admission.lost.empty(), "the journal of a simulated daemon never goes back");
                   out.emplace_back(ToNode{node, welcome(admission.node)});
                   for (auto& missed : admission.orders) out.emplace_back(ToNode{node, std::move(missed)});
                 },
                 [&](leader::AgentRefusal& refusal) {
                   out.emplace_back(ToNode{node_of_session(refusal.session), api::AgentRefuse{refusal.why}});
                 },
                 [&](leader::NodeMessage& to) {
                   const auto node = ids.node_of(to.node);
                   if (node) out.emplace_back(ToNode{*node, std::move(to.message)});
                 },
                 [](leader::CertificateGrant&) { TP_CHECK(false, "a simulated node asks for no certificate"); },
                 [](leader::NodeExpulsion&) { TP_CHECK(false, "no certificate of a simulated node is revoked"); },
             },
             order);
}

std::string key_of(const Incoming& incoming) {
  const auto* submit = std::get_if<Submit>(&incoming);
  return submit == nullptr ? std::string() : submit->key;
}

}  // namespace tidepool::sim
