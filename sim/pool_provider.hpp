// The providers of a simulated world: they carry out what the daemon's state requests, with delays, fail with the
// configured probability, and compute the cost of each machine. They decide nothing: the daemon's own stage does.
//
// A machine is billed from its request until it is gone, whatever it does in between. Calls have an effect even if the
// daemon dies before their answer, and each can be repeated (as schedulerd/live/providers/node_provider.hpp requires of
// real ones). The random values of a machine follow from the seed and its number alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "core/state/cluster_state.hpp"
#include "schedulerd/leader/turn_items.hpp"
#include "sim/cluster_model.hpp"

namespace tidepool::sim {

struct PoolModel {
  core::PoolSpec spec;
  double lead_spread = 0;   // a node joins after lead_time x (1 - spread) to lead_time x (1 + spread); < 1
  double create_fails = 0;  // chance that an attempt to create a node fails
  double never_joins = 0;   // chance that a machine is created and its agent never joins
  Duration reclaim_every;   // mean time until a node is reclaimed; zero = never
  Duration reclaim_notice;  // time from the notice to its agent until then
  double speed = 1;         // of computing, as in NodeKind
};

struct PoolSetup {
  std::vector<PoolModel> pools;  // none = the cluster is fixed
  double spot_share = 1;
};

// The life of a machine, from its request until it was gone.
struct NodeLife {
  std::string pool;
  std::string name;
  core::NodeRequest request = 0;
  Instant asked;
  Instant gone;
  int slots = 1;
  Money price_per_slot_hour;
  bool joined = false;

  [[nodiscard]] double hours() const { return (gone - asked).to_seconds() / 3'600; }
  // In units of money.
  [[nodiscard]] double cost() const { return hours() * slots * price_per_slot_hour.to_units(); }
};

// A scheduled action of a provider.
struct CreateEnds {
  NodeLife node;
  std::uint64_t life = 0;  // of the daemon that made the call
};
struct DeleteEnds {
  core::NodeRequest request = 0;
  std::uint64_t life = 0;
};
struct MachineBoots {
  core::NodeRequest request = 0;
};
struct ReclaimTold {
  core::NodeRequest request = 0;
};
struct MachineTaken {
  core::NodeRequest request = 0;
};
// The daemon lists the nodes.
struct ListDue {
  std::uint64_t life = 0;
};
using PoolEvent = std::variant<CreateEnds, DeleteEnds, MachineBoots, ReclaimTold, MachineTaken, ListDue>;

class PoolProvider {
 public:
  // Actions on the world.
  struct Hands {
    std::function<void(Instant, PoolEvent)> later;
    std::function<int(const std::string& name, const NodeKind&)> switch_on;  // returns the new node's index
    std::function<void(int node)> take_away;
    std::function<void(int node, Instant ends)> give_notice;
  };
  PoolProvider(PoolSetup setup, std::uint64_t seed, Hands hands);

  // A daemon starts: the facts from its configuration.
  [[nodiscard]] core::PoolsConfigured begin_life();
  // The daemon is dead; answers to its calls are lost.
  void end_life();
  // Makes the calls that the state requests.
  void look(const core::ClusterState& state, Instant now);
  // Returns the answers for the daemon. `state` is null while it is dead.
  [[nodiscard]] std::vector<leader::PoolReport> happen(const PoolEvent& event, const core::ClusterState* state,
                                                       Instant now);

  // Whether only the nodes are left that pools keep at least, or that a policy file wants without a job.
  [[nodiscard]] bool at_rest(const core::ClusterState& state) const;
  // Every machine, in the order of their numbers; present ones until `now`.
  [[nodiscard]] std::vector<NodeLife> lives(Instant now) const;

 private:
  struct Machine {
    NodeLife life;
    int node = -1;  // none: it has not booted
  };
  using Reports = std::vector<leader::PoolReport>;

  Reports on(const CreateEnds& event, const core::ClusterState* state, Instant now);
  Reports on(const DeleteEnds& event, const core::ClusterState* state, Instant now);
  Reports on(const MachineBoots& event, const core::ClusterState* state, Instant now);
  Reports on(const ReclaimTold& event, const core::ClusterState* state, Instant now);
  Reports on(const MachineTaken& event, const core::ClusterState* state, Instant now);
  Reports on(const ListDue& event, const core::ClusterState* state, Instant now);

  [[nodiscard]] const PoolModel& model(const std::string& pool) const;
  [[nodiscard]] Rng draws_of(core::NodeRequest request) const;
  void make_machine(const NodeLife& life, Rng draws, bool joins, Instant now);
  void end_machine(core::NodeRequest request, Instant now);
  void list(const core::ClusterState& state, Instant now, Reports& reports) const;
  [[nodiscard]] NodeLife life_of(const core::PoolNode& node) const;

  PoolSetup setup_;
  std::uint64_t seed_;
  Hands hands_;
  std::uint64_t life_ = 0;                // of the daemon
  std::set<core::NodeRequest> creating_;  // calls of this daemon that are in progress
  std::set<core::NodeRequest> deleting_;
  bool list_is_due_ = false;  // its event is scheduled
  std::map<core::NodeRequest, Machine> machines_;
  std::vector<NodeLife> ended_;
};

}  // namespace tidepool::sim
