// The interface between the simulated world and the daemon: messages in, messages out, at times that the world chooses.
// Usually SimulatedDaemon is behind it; a test puts the live loop in its place and runs the same world.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/engine/engine.hpp"
#include "sim/messages.hpp"

namespace tidepool::sim {

// What the policy file in charge answers about a state; `number` is that of the question. A fault is a round, too.
using AskFile = std::function<core::PolicyRound(const core::ClusterState& state, Instant now, std::int64_t number)>;

// How its engine is made, and what is told of what it does.
struct DaemonParts {
  std::function<core::Engine::Parts()> parts;              // makes the engine's parts, again at each recovery
  std::function<void(const core::Decision&)> on_decision;  // each decision that was carried out
  std::function<void(const core::Event&)> on_event;        // each event, once it is durable; none = not told
  AskFile ask_file = {};                                   // none = no policy file is ever in charge
};

// Nodes are indices in the world, names and ids in the daemon: node 0 is "node-1". Nodes of pools have names of pools.
[[nodiscard]] std::string node_name(int node);

// The answer to an agent that is let in. Its heartbeats would only cost time: that a node is silent is an event of the
// simulator's own (AgentSilent).
[[nodiscard]] api::AgentWelcome welcome(NodeId node);

class Daemon {
 public:
  // What it has done so far.
  struct Books {
    std::vector<std::int64_t> decide_ns;
    std::uint64_t journal_writes = 0;
    std::vector<std::string> refused;             // facts that the engine refused, with its words; the last few
    std::optional<std::string> invalid_decision;  // a decision that the validator refused
  };

  virtual ~Daemon() = default;
  // Takes a batch, journals it, answers, decides. If the daemon dies on the way, the result holds what had left
  // it before, and alive() is false. An empty batch: time has passed and nothing else has happened.
  // Requires: alive(), and `now` is not before the last one.
  [[nodiscard]] virtual std::vector<Outgoing> receive(const std::vector<Incoming>& batch, Instant now) = 0;
  // Starts again from what it has kept. Fails if that cannot be read or does not give the committed state back.
  [[nodiscard]] virtual Status recover() = 0;
  [[nodiscard]] virtual bool alive() const = 0;
  // Require: alive().
  [[nodiscard]] virtual const core::ClusterState& state() const = 0;
  // That has ended and left the state; null: there is none.
  [[nodiscard]] virtual std::shared_ptr<const core::Job> ended(JobId job) const = 0;
  // Either way.
  [[nodiscard]] std::shared_ptr<const core::Job> job(JobId job) const;
  [[nodiscard]] virtual std::optional<Instant> next_due() const = 0;

  [[nodiscard]] virtual Books books() const = 0;
};

}  // namespace tidepool::sim
