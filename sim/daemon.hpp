// The interface between the simulated world and the daemon: messages in, messages out, at times that the world chooses.
// Usually SimulatedDaemon implements it; a test uses the live loop instead and runs the same world.
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

// The answer of the active policy file about a state; `number` is that of the question. An error counts as an answer,
// too.
using AskFile = std::function<core::PolicyRound(const core::ClusterState& state, Instant now, std::int64_t number)>;

// How its engine is created, and the callbacks for what it does.
struct DaemonParts {
  std::function<core::Engine::Parts()> parts;              // creates the engine's parts, again at each recovery
  std::function<void(const core::Decision&)> on_decision;  // each decision that was carried out
  std::function<void(const core::Event&)> on_event;        // each event, once it is durable; none = not told
  AskFile ask_file = {};                                   // none = no policy file is ever active
};

// Nodes are indices in the world, names and ids in the daemon: node 0 is "node-1". Nodes of pools have names of pools.
[[nodiscard]] std::string node_name(int node);

// The answer to an agent that is admitted. Heartbeats are not simulated, to save time: the silence of a node is an
// event of the simulator (AgentSilent).
[[nodiscard]] api::AgentWelcome welcome(NodeId node);

class Daemon {
 public:
  // What it has done so far.
  struct Books {
    std::vector<std::int64_t> decide_ns;
    std::uint64_t journal_writes = 0;
    std::vector<std::string> refused;             // facts that the engine refused, with its error; the newest ones
    std::optional<std::string> invalid_decision;  // a decision that the validator refused
  };

  virtual ~Daemon() = default;
  // Processes a batch: journals it, answers, decides. If the daemon dies on the way, the result holds what was sent
  // before, and alive() is false. An empty batch: only time has passed.
  // Requires: alive(), and `now` is not before the last one.
  [[nodiscard]] virtual std::vector<Outgoing> receive(const std::vector<Incoming>& batch, Instant now) = 0;
  // Starts again from its stored data. Fails if that cannot be read or does not reproduce the committed state.
  [[nodiscard]] virtual Status recover() = 0;
  [[nodiscard]] virtual bool alive() const = 0;
  // Require: alive().
  [[nodiscard]] virtual const core::ClusterState& state() const = 0;
  // A job that has ended and left the state; null: there is none.
  [[nodiscard]] virtual std::shared_ptr<const core::Job> ended(JobId job) const = 0;
  // Either way.
  [[nodiscard]] std::shared_ptr<const core::Job> job(JobId job) const;
  [[nodiscard]] virtual std::optional<Instant> next_due() const = 0;

  [[nodiscard]] virtual Books books() const = 0;
};

}  // namespace tidepool::sim
