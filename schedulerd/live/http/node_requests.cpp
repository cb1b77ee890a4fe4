#include "schedulerd/live/http/node_requests.hpp"

#include <algorithm>

namespace tidepool::live::http {
namespace {

constexpr std::size_t kReasonMax = 200;

bool has_controls(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

}  // namespace

std::string read_reason(ObjectReader& in) {
  std::string reason = in.text("reason", "");
  if (reason.size() > kReasonMax) in.fail("reason", "OutOfRange", "must be at most 200 bytes");
  if (has_controls(reason)) in.fail("reason", "Invalid", "has control characters; give one line of plain text");
  return reason;
}

std::optional<NodeId> node_meant(const core::ClusterState& state, const std::string& text) {
  const auto id = NodeId::parse(text);
  if (id && state.find_node(*id) != nullptr) return id;
  std::optional<NodeId> named;
  for (const auto& [each, node] : state.nodes) {
    if (node.name == text && (!named || !state.has_gone(node))) named = each;
  }
  if (named) return named;
  return id && id->number() < state.next_node ? id : std::nullopt;
}

Problem unknown_node(const Call& call) {
  const core::ClusterState& state = call.seen->state;
  for (const auto& [id, node] : state.nodes) {
    if (node.name != call.id || state.has_gone(node)) continue;
    return {.status = 404,
            .code = "UnknownNode",
            .detail = call.id + " is the name of a node, and this path takes its id",
            .hint = id.text() + " is its id"};
  }
  return {.status = 404,
          .code = "UnknownNode",
          .detail = "there is no node " + call.id,
          .hint = "GET /v1/nodes lists them"};
}

}  // namespace tidepool::live::http
