// What a trace is like: how many jobs, what they asked for, for how long, how fast they came.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "studies/traces/trace.hpp"

namespace tidepool::sim {

struct TraceStats {
  std::int64_t jobs = 0;
  std::int64_t tenants = 0;
  std::int64_t users = 0;  // named ones
  double span_s = 0;       // first submission to last
  double gpu_hours = 0;    // GPUs x share x duration
  double mean_gpus = 0;    // GPUs busy on average, if every job ran at its submission, until the last one has ended
  double arrivals_per_hour = 0;
  std::int64_t arrivals_peak = 0;  // the most within one clock hour of the trace
  int gpus_min = 0;
  int gpus_max = 0;
  std::int64_t fractional = 0;  // jobs that ask for a part of a GPU
  std::int64_t deadlines = 0;
  // Of all jobs, in seconds; nearest rank.
  double duration_mean_s = 0, duration_p50_s = 0, duration_p90_s = 0, duration_p99_s = 0, duration_max_s = 0;
  struct Share {
    std::int64_t jobs = 0;
    double gpu_hours = 0;
  };
  std::map<int, Share> by_gpus;  // by how many GPUs a job asked for
  std::map<TraceStatus, Share> by_status;
  struct Bucket {
    double from_s = 0;
    double to_s = 0;  // 0 = no end
    Share share;
  };
  std::vector<Bucket> by_duration;  // 0-1 min, 1-10 min, 10 min-1 h, 1-6 h, 6-24 h, 1-7 d, longer
};

[[nodiscard]] TraceStats stats_of(const std::vector<TraceJob>& jobs);

[[nodiscard]] nlohmann::ordered_json to_json(const TraceStats& stats);

}  // namespace tidepool::sim
