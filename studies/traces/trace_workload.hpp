// Jobs of a trace as jobs of a run. A trace knows how long a job ran at the size it asked for and nothing about other
// sizes, so a job is rigid unless the caller allows sizes and says by which curve it then speeds up.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/workload.hpp"
#include "studies/traces/trace.hpp"

namespace tidepool::sim {

struct TraceRules {
  int slots_per_node =
      1;  // of the largest node: a worker is as many GPUs of a job as fit on one, if they divide evenly
  // 0 = jobs are rigid. Else a worker is one GPU, and a job may have 1 .. this many, or what it asked for if that is
  // more.
  int elastic_max = 0;
  // Slots of the largest node of each type that the cluster has by name. A job that asks for some of them runs on those
  // alone; one that asks for others, or a cluster without types, is taken to run anywhere.
  std::map<std::string, int> types;
  double sigma = 0.05;  // contention and coherency of the curve (policies/models/usl_curve.hpp), where sizes may change
  double kappa = 0.0005;
};

// What jobs of the trace ask for and do not get: parts of GPUs, types that are not among these. One sentence each.
[[nodiscard]] std::vector<std::string> unmet_asks(const Trace& trace, const std::map<std::string, int>& types);

// At its asked size, alone and undisturbed, a job takes its duration exactly. Without boot, stall or noise: they are in
// the duration already. What a trace asks for and these jobs do not get is in the workload's notes.
[[nodiscard]] Workload workload_of(const Trace& trace, const std::string& name, const TraceRules& rules);

}  // namespace tidepool::sim
