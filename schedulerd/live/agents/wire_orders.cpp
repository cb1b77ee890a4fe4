#include "schedulerd/live/agents/wire_orders.hpp"

#include <spdlog/spdlog.h>

#include "schedulerd/leader/start_order.hpp"

namespace tidepool::live {

std::optional<api::DaemonToAgent> message_of(const leader::Order& order, const core::ClusterState& state) {
  auto message = leader::write_message(order, state);
  if (message.ok()) return *std::move(message);
  const auto* start = std::get_if<leader::StartOrder>(&order);
  const std::string worker = start == nullptr ? "none" : start->worker.text();
  spdlog::error("event=start_impossible worker={} why=\"{}\"", worker, message.error().message);
  return std::nullopt;
}

void append_messages(const std::vector<leader::NodeOrder>& orders, const core::ClusterState& state,
                     std::vector<OutboxItem>& out) {
  for (const leader::NodeOrder& order : orders) {
    if (auto message = message_of(order.what, state)) out.emplace_back(NodeOrder{order.node, *std::move(message)});
  }
}

}  // namespace tidepool::live
