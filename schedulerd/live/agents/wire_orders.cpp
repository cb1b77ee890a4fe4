#include "schedulerd/live/agents/wire_orders.hpp"

#include <spdlog/spdlog.h>

#include "base/overloaded.hpp"
#include "schedulerd/leader/start_order.hpp"

namespace tidepool::live {
namespace {

std::optional<api::DaemonToAgent> start_message(WorkerId id, const core::ClusterState& state) {
  const core::Worker* worker = state.find_worker(id);
  const core::Node* node = worker == nullptr ? nullptr : state.find_node(worker->node);
  if (node == nullptr) return std::nullopt;
  auto message = leader::start_order(*worker, *state.find_job(worker->job), *node);
  if (message.ok()) return api::DaemonToAgent(*std::move(message));
  spdlog::error("event=start_impossible worker={} why=\"{}\"", id.text(), message.error().message);
  return std::nullopt;
}

}  // namespace

std::optional<api::DaemonToAgent> message_of(const leader::Order& order, const core::ClusterState& state) {
  return std::visit(Overloaded{
                        [&](const leader::StartOrder& start) { return start_message(start.worker, state); },
                        [](const auto& message) { return std::optional<api::DaemonToAgent>(message); },
                    },
                    order);
}

void append_messages(const std::vector<leader::NodeOrder>& orders, const core::ClusterState& state,
                     std::vector<OutboxItem>& out) {
  for (const leader::NodeOrder& order : orders) {
    if (auto message = message_of(order.what, state)) out.emplace_back(NodeOrder{order.node, *std::move(message)});
  }
}

}  // namespace tidepool::live
