// Picks out of an agent's actions what a test asks for.
#pragma once

#include <variant>
#include <vector>

#include "workers/agent/state/agent_state.hpp"

namespace tidepool::agent {

// All actions of this kind, in order.
template <class Kind>
std::vector<Kind> all(const std::vector<Action>& actions) {
  std::vector<Kind> found;
  for (const Action& action : actions) {
    if (const auto* kind = std::get_if<Kind>(&action)) found.push_back(*kind);
  }
  return found;
}

// All messages of this kind among those that are sent to the daemon, in order.
template <class Message>
std::vector<Message> told(const std::vector<Action>& actions) {
  std::vector<Message> found;
  for (const auto& sent : all<SendToDaemon>(actions)) {
    if (const auto* message = std::get_if<Message>(&sent.message)) found.push_back(*message);
  }
  return found;
}

}  // namespace tidepool::agent
