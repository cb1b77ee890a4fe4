#include "policies/tidal/slot_types.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::View;

constexpr int kFitRounds = 30;  // of an alternation that at least halves its error in each

using Logs = std::vector<std::vector<std::optional<double>>>;  // by job and type; none = not measured, or cannot run

// Of what a slot brings at the size that the job wants, or the smallest it runs at.
Logs measured(const View& view, const std::vector<SlotPool>& pools) {
  Logs logs;
  for (const JobRow& job : view.jobs) {
    std::vector<std::optional<double>>& row = logs.emplace_back(pools.size());
    for (std::size_t type = 0; type < pools.size(); ++type) {
      if (!job.speed->knows(pools[type].type)) continue;
      cluster::Shape shape = cluster::packed(job.size_wanted, pools[type].slots_per_node);
      shape.type = pools[type].type;
      const double goodput = job.speed->goodput(shape);
      if (goodput > 0 && std::isfinite(goodput)) row[type] = std::log(goodput);
    }
  }
  return logs;
}

std::vector<double> fitted_paces(const Logs& logs, std::size_t types) {
  std::vector<double> paces(types, 0);  // logs of them
  for (int round = 0; round < kFitRounds; ++round) {
    std::vector<double> sums(types, 0);
    std::vector<int> counts(types, 0);
    for (const auto& row : logs) {
      double own = 0;
      int known = 0;
      for (std::size_t type = 0; type < types; ++type) {
        if (!row[type]) continue;
        own += *row[type] - paces[type];
        ++known;
      }
      if (known < 2) continue;  // it compares nothing
      for (std::size_t type = 0; type < types; ++type) {
        if (!row[type]) continue;
        sums[type] += *row[type] - own / known;
        ++counts[type];
      }
    }
    for (std::size_t type = 0; type < types; ++type) {
      if (counts[type] > 0) paces[type] = sums[type] / counts[type];
    }
  }
  for (std::size_t type = types; type-- > 0;) paces[type] = std::exp(paces[type] - paces[0]);
  return paces;
}

}  // namespace

std::vector<SlotPool> pools_of(const View& view) {
  if (view.types.size() < 2) return {pool_of(view)};
  std::vector<SlotPool> pools(view.types.size());
  for (std::size_t type = 0; type < pools.size(); ++type) {
    pools[type].type = static_cast<int>(type);
    pools[type].now = view.now;
  }
  for (const cluster::NodeRow& node : view.nodes) {
    SlotPool& pool = pools[static_cast<std::size_t>(node.type)];
    pool.slots += node.slots;
    pool.slots_per_node = std::max(pool.slots_per_node, node.slots);
  }
  const std::vector<double> paces = fitted_paces(measured(view, pools), pools.size());
  for (std::size_t type = 0; type < pools.size(); ++type) pools[type].pace = paces[type];
  return pools;
}

int type_held(const View& view, const JobRow& job) {
  if (job.placement.empty()) return -1;
  return view.nodes[static_cast<std::size_t>(job.placement.front().node)].type;
}

}  // namespace tidepool::policies::tidal
