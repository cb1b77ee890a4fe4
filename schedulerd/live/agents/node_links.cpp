#include "schedulerd/live/agents/node_links.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "schedulerd/leader/report_facts.hpp"

namespace tidepool::live {
namespace {

constexpr const char* kNewerAgent = "a newer agent of the same name has connected";

std::string other_agent(const std::string& node) {
  return "another agent, with a state directory of its own, is connected under the name " + node +
         "; give each agent its own name with --node, or stop the other agent first";
}

}  // namespace

void NodeLinks::expect(const std::string& node, std::int64_t patience_ticks) {
  links_[node] = {.session = nullptr, .joining = nullptr, .patience_ticks = patience_ticks};
}

// Another agent, with a state directory of its own, has the name: two that replaced each other would destroy what runs
// there.
std::optional<std::string> NodeLinks::why_taken(const api::AgentHello& hello) {
  const auto found = links_.find(hello.node);
  if (found == links_.end() || !hello.instance) return std::nullopt;
  Link& link = found->second;
  const auto is_other = [&](const Session& held) {
    return held != nullptr && !held->instance.empty() && held->instance != *hello.instance;
  };
  if (!is_other(link.session) && !is_other(link.joining)) return std::nullopt;
  if (std::exchange(link.refused, *hello.instance) != *hello.instance) {
    spdlog::warn("event=agent_refused node={:?} why={:?}", leader::logged_name(hello.node), other_agent(hello.node));
  }
  return other_agent(hello.node);
}

NodeLinks::Session NodeLinks::live(const std::string& node) const {
  const auto link = links_.find(node);
  return link == links_.end() ? nullptr : link->second.session;
}

NodeLinks::Session NodeLinks::joining(const std::string& node) const {
  const auto link = links_.find(node);
  return link == links_.end() ? nullptr : link->second.joining;
}

NodeLinks::Link& NodeLinks::link_of(const std::string& node) {
  return links_.try_emplace(node, Link{.session = nullptr, .joining = nullptr, .patience_ticks = patience_ticks_})
      .first->second;
}

void NodeLinks::join(const Session& session) {
  if (const auto older = std::exchange(link_of(session->node_name).joining, session)) older->close(kNewerAgent);
}

void NodeLinks::admit(const Session& session) {
  Link& link = link_of(session->node_name);
  if (link.joining == session) link.joining.reset();
  if (const auto older = std::exchange(link.session, session); older != nullptr && older != session) {
    older->close(kNewerAgent);
  }
  link.patience_ticks = patience_ticks_;
}

void NodeLinks::closed(const AgentSession& session) {
  const auto link = links_.find(session.node_name);
  if (link == links_.end()) return;
  if (link->second.joining.get() == &session) link->second.joining.reset();
  if (link->second.session.get() == &session) {
    link->second.session.reset();
    link->second.away_ticks = session.silent_ticks;  // one that fell silent has been away for as long
  }
}

void NodeLinks::tick(const std::function<void(const std::string& node, std::int64_t patience_ticks)>& on_lost) {
  for (auto entry = links_.begin(); entry != links_.end();) {
    Link& link = entry->second;
    const bool is_held = link.session != nullptr || link.joining != nullptr;
    if (is_held || ++link.away_ticks <= link.patience_ticks) {
      ++entry;
      continue;
    }
    on_lost(entry->first, link.patience_ticks);
    entry = links_.erase(entry);
  }
}

}  // namespace tidepool::live
