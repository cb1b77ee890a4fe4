// Between simulated nodes and the live loop: the worker protocol, each message encoded and decoded as on a wire.
#pragma once

#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "base/overloaded.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "sim/messages.hpp"
#include "sim/turn_messages.hpp"

namespace tidepool::test {

// What an agent says, as its reader gets it; all else is no message of the protocol.
inline sim::Incoming over_the_wire(const sim::Incoming& incoming) {
  const auto* from = std::get_if<sim::FromNode>(&incoming);
  if (from == nullptr) return incoming;
  auto arrived = api::decode_agent_to_daemon(api::encode(from->message));
  TP_CHECK(arrived.ok(), "what an agent says can be read");
  return sim::FromNode{from->node, *std::move(arrived)};
}

inline sim::Outgoing over_the_wire(const sim::Outgoing& outgoing) {
  const auto* to = std::get_if<sim::ToNode>(&outgoing);
  // A welcome is the gateway's, which is not here.
  if (to == nullptr || std::holds_alternative<api::AgentWelcome>(to->message)) return outgoing;
  auto arrived = api::decode_daemon_to_agent(api::encode(to->message));
  TP_CHECK(arrived.ok(), "what the daemon says can be read");
  return sim::ToNode{to->node, *std::move(arrived)};
}

// As the loop takes it. The outcome of a command goes to `done`.
inline live::InboxItem inbox_item(const sim::Incoming& incoming, const sim::NodeIds& ids,
                                  std::function<void(Result<live::Receipt>)> done) {
  leader::TurnItem item = sim::item_of(over_the_wire(incoming), ids);
  return std::visit(Overloaded{
                        [&](leader::Command& command) -> live::InboxItem {
                          return live::CommandItem{std::move(command), std::move(done)};
                        },
                        [](auto& said) -> live::InboxItem { return std::move(said); },
                    },
                    item);
}

// As the nodes hear it. The loop's admissions are what `ids` learns from.
inline std::vector<sim::Outgoing> messages_to_nodes(std::vector<live::OutboxItem> items, sim::NodeIds& ids) {
  std::vector<sim::Outgoing> sent;
  for (auto& item : items) sim::pass_on(std::move(item), ids, sent);
  std::vector<sim::Outgoing> heard;
  for (const sim::Outgoing& message : sent) heard.push_back(over_the_wire(message));
  return heard;
}

}  // namespace tidepool::test
