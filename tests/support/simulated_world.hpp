// A world for the engine to schedule: agents, processes and users that do random but possible things.
// Messages can be late, repeated or lost with a connection; the world itself never lies about a death.
// Its parts, each on top of the one before: world_record.hpp, world_machines.hpp, world_training.hpp, world_users.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/restless_policy.hpp"
#include "tests/support/world_users.hpp"

namespace tidepool::test {

// Three kinds of worlds, by the seed: in one slots are of two types, some jobs ask for one of them, and some have a
// deadline; in one all workers hold a slot each and no job has any of these; in one some workers hold two. What else a
// user may declare is drawn in all of them.
class SimulatedWorld : public WorldUsers {
 public:
  SimulatedWorld(std::uint64_t seed, bool faults)
      : WorldUsers(seed, faults, [](Rng& rng) { return restless_parts(rng.chance(0.5)); }) {
    add_nodes();
  }
  // One job in five asks for one of the policies in `parts` by name, and one in ten may not be preempted.
  SimulatedWorld(std::uint64_t seed, bool faults, const core::Engine::Parts& parts)
      : WorldUsers(seed, faults, [&](Rng&) { return parts; }) {
    policies_ = policy_names(parts);
    add_nodes();
  }

  // More of what is rare: many jobs that wait, half of them for a type of slots where there are types, and workers that
  // are slow for as long as they live, in jobs that get further between two decisions.
  void strain() { strained_ = true; }
  // A decision followed another at once. How often one has.
  int note_following() { return ++followed_; }

  // Nodes that fail again and again get no workers for a while, slots stay held after their worker's end, and operators
  // plan maintenance.
  void close_nodes() {
    closes_nodes_ = true;
    const Duration half_life = Duration::seconds(rng_.between(1, 20));
    learn(core::NodeDampingConfigured{{.half_life = half_life, .suppress = 1.3, .longest = half_life * 4}});
    learn(core::DetectorConfigured{"plain"});
  }

  // One random thing happens.
  void tick() {
    if (rng_.chance(0.3)) pass(Duration::millis(rng_.between(1, 4000)));
    if (strained_ && rng_.chance(0.2)) submit();
    if (labelled_ && rng_.chance(0.04)) relabel_one();
    const auto draw = rng_.below(100);
    if (draw < 12) {
      submit();
    } else if (draw < 20) {
      user_acts();
    } else if (faults_ && draw < 26) {
      process_dies();
    } else if (faults_ && draw < 32) {
      node_acts();
    } else if (faults_ && draw < 36) {
      repeat_an_old_fact();
    } else if (faults_ && draw < 38) {
      process_hangs();
    } else {
      work();
    }
  }

  // No more faults and wishes of users: everything that is away comes back, everything parked goes on.
  void calm_down() {
    faults_ = false;
    for (auto& [id, agent] : agents_) {
      if (agent.has_ended) continue;
      if (!agent.connected) rejoin(id);
      learn(core::NodeCordonChanged{id, false});
      learn(core::NodeReclaimNoticed{id, {}});
      learn(core::NodeDrainCancelled{id});
    }
    learn(core::NodeDampingConfigured{});
    while (!state().maintenance.windows.empty()) {
      learn(core::MaintenanceRemoved{state().maintenance.windows.begin()->first});
    }
    // An agent sees sooner or later that a worker makes no progress.
    for (const auto& [id, process] : std::map(processes_)) {
      if (process.held && state().find_worker(id) != nullptr) die(id, 1);
      if (process.hangs && !process.held) learn(core::WorkerStuck{id, 0, "computing", Duration::seconds(90)});
    }
    for (const auto& [id, job] : IdTable(state().jobs)) {
      if (core::is_final(job->state())) continue;
      if (job->requests.suspend) learn(core::JobResumeRequested{id});
      // The smallest world has one node with two slots; a job that needs more or pays less may never fit.
      const bool may_not_fit = job->spec.elastic.min * job->spec.gpus_per_worker > 2 || job->spec.scaling.price_cap ||
                               !job->spec.slot_types.empty() || lacks_nodes(*job);
      if (may_not_fit) learn(core::JobCancelRequested{id});
    }
  }

 private:
  int followed_ = 0;
};

}  // namespace tidepool::test
