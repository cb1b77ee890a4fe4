#include "sim/fault_mix.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tidepool::sim {

std::vector<Fault> draw_faults(const FaultMix& mix, Rng& rng) {
  const std::array<std::pair<FaultKind, Duration>, 10> kinds{{{FaultKind::kNodeCrash, mix.node_crash_every},
                                                              {FaultKind::kNodeCutOff, mix.node_cut_off_every},
                                                              {FaultKind::kWorkerDeath, mix.worker_death_every},
                                                              {FaultKind::kWorkerSlow, mix.worker_slow_every},
                                                              {FaultKind::kWorkerIgnores, mix.worker_ignores_every},
                                                              {FaultKind::kWorkerStuck, mix.worker_stuck_every},
                                                              {FaultKind::kTwoDeaths, mix.two_deaths_every},
                                                              {FaultKind::kNodeSlow, mix.node_slow_every},
                                                              {FaultKind::kNodeNoisy, mix.node_noisy_every},
                                                              {FaultKind::kNodeReclaim, mix.node_reclaim_every}}};
  std::vector<Fault> faults;
  for (const auto& [kind, every] : kinds) {
    Rng own = rng.fork();
    if (every <= Duration()) continue;
    Duration at = Duration::from_seconds(own.exponential(every.to_seconds()));
    for (; at < mix.until; at += Duration::from_seconds(own.exponential(every.to_seconds()))) {
      faults.push_back({.at = at,
                        .kind = kind,
                        .which = own.next(),
                        .lasts = Duration::from_seconds(own.exponential(mix.mean_node_outage.to_seconds())),
                        .notice = mix.reclaim_notice,
                        .slowdown = 1.5 + 2 * own.uniform()});
    }
  }
  std::sort(faults.begin(), faults.end(),
            [](const Fault& a, const Fault& b) { return a.at != b.at ? a.at < b.at : a.which < b.which; });
  return faults;
}

}  // namespace tidepool::sim
