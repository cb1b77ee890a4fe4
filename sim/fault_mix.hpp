// The faults of a run, drawn from a seed before it starts: which node, when, for how long. Daemon crashes are not here:
// they occur at journal writes (simulated_daemon.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "base/time.hpp"

namespace tidepool::sim {

enum class FaultKind {
  kNodeCrash,      // the machine stops with all its processes and comes back empty
  kNodeCutOff,     // the machine is unreachable and comes back with its processes
  kWorkerDeath,    // one process is killed
  kWorkerSlow,     // one process computes slower from now on, until it ends
  kWorkerStuck,    // one process hangs and has to be killed
  kTwoDeaths,      // two processes are killed at once, of one job if it has as many
  kNodeSlow,       // all processes of one machine compute slower for a while
  kNodeNoisy,      // compute times on one machine vary for a while, and no worker is slow
  kNodeReclaim,    // the provider gives a notice, reclaims the machine after it, and returns it later
  kWorkerIgnores,  // one process ignores requests to leave from now on and has to be killed
};

struct Fault {
  Duration at;
  FaultKind kind = FaultKind::kWorkerDeath;
  std::uint64_t which = 0;  // selects the node or process, modulo their number
  Duration lasts;           // of node faults
  Duration notice;          // of reclaims
  double slowdown = 1;      // of slow workers and nodes, > 1
};

struct FaultMix {
  // Mean time between faults of each kind over the whole cluster; zero = never.
  Duration node_crash_every;
  Duration node_cut_off_every;
  Duration worker_death_every;
  Duration worker_slow_every;
  Duration worker_ignores_every;
  Duration worker_stuck_every;
  Duration two_deaths_every;
  Duration node_slow_every;
  Duration node_noisy_every;
  Duration node_reclaim_every;
  Duration mean_node_outage = Duration::seconds(300);
  Duration reclaim_notice = Duration::seconds(120);
  Duration until;  // no fault starts after this
};

// By time.
[[nodiscard]] std::vector<Fault> draw_faults(const FaultMix& mix, Rng& rng);

}  // namespace tidepool::sim
