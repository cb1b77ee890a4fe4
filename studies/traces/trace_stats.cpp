#include "studies/traces/trace_stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

namespace tidepool::sim {
namespace {

constexpr std::array kBounds{0.0, 60.0, 600.0, 3'600.0, 21'600.0, 86'400.0, 604'800.0};

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double rank = std::max(1.0, std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[static_cast<std::size_t>(rank) - 1];
}

void add(TraceStats::Share& share, double gpu_hours) {
  ++share.jobs;
  share.gpu_hours += gpu_hours;
}

nlohmann::ordered_json json_of(const TraceStats::Share& share) {
  return {{"jobs", share.jobs}, {"gpu_hours", share.gpu_hours}};
}

}  // namespace

TraceStats stats_of(const std::vector<TraceJob>& jobs) {
  TraceStats stats{.jobs = static_cast<std::int64_t>(jobs.size())};
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    stats.by_duration.push_back({.from_s = kBounds[i], .to_s = i + 1 < kBounds.size() ? kBounds[i + 1] : 0});
  }
  std::set<std::string> tenants;
  std::set<std::string> users;
  std::map<std::int64_t, std::int64_t> hours;
  std::vector<double> durations;
  double end = 0;
  for (const TraceJob& job : jobs) {
    const double gpu_hours = job.gpus * job.gpu_share * job.duration_s / 3'600;
    stats.gpu_hours += gpu_hours;
    stats.span_s = std::max(stats.span_s, job.submit_s);
    end = std::max(end, job.submit_s + job.duration_s);
    stats.gpus_min = stats.gpus_max == 0 ? job.gpus : std::min(stats.gpus_min, job.gpus);
    stats.gpus_max = std::max(stats.gpus_max, job.gpus);
    stats.fractional += job.gpu_share < 1 ? 1 : 0;
    stats.deadlines += job.deadline_s ? 1 : 0;
    tenants.insert(job.tenant);
    if (!job.user.empty()) users.insert(job.user);
    durations.push_back(job.duration_s);
    stats.arrivals_peak = std::max(stats.arrivals_peak, ++hours[static_cast<std::int64_t>(job.submit_s / 3'600)]);
    add(stats.by_gpus[job.gpus], gpu_hours);
    add(stats.by_status[job.status], gpu_hours);
    const auto above = std::upper_bound(kBounds.begin(), kBounds.end(), job.duration_s);
    add(stats.by_duration[static_cast<std::size_t>(above - kBounds.begin()) - 1].share, gpu_hours);
  }
  std::sort(durations.begin(), durations.end());
  for (const double duration : durations) stats.duration_mean_s += duration / static_cast<double>(durations.size());
  stats.duration_p50_s = percentile(durations, 0.5);
  stats.duration_p90_s = percentile(durations, 0.9);
  stats.duration_p99_s = percentile(durations, 0.99);
  stats.duration_max_s = percentile(durations, 1);
  stats.tenants = static_cast<std::int64_t>(tenants.size());
  stats.users = static_cast<std::int64_t>(users.size());
  if (end > 0) stats.mean_gpus = stats.gpu_hours * 3'600 / end;
  if (stats.span_s > 0) stats.arrivals_per_hour = static_cast<double>(stats.jobs) / (stats.span_s / 3'600);
  return stats;
}

nlohmann::ordered_json to_json(const TraceStats& stats) {
  nlohmann::ordered_json by_gpus;
  for (const auto& [gpus, share] : stats.by_gpus) by_gpus[std::to_string(gpus)] = json_of(share);
  nlohmann::ordered_json by_status;
  for (const auto& [status, share] : stats.by_status) by_status[std::string(to_text(status))] = json_of(share);
  auto by_duration = nlohmann::ordered_json::array();
  for (const auto& bucket : stats.by_duration) {
    nlohmann::ordered_json line{{"from_s", bucket.from_s}};
    line["to_s"] = bucket.to_s > 0 ? nlohmann::ordered_json(bucket.to_s) : nlohmann::ordered_json(nullptr);
    line.update(json_of(bucket.share));
    by_duration.push_back(std::move(line));
  }
  return {{"jobs", stats.jobs},
          {"tenants", stats.tenants},
          {"users", stats.users},
          {"span_s", stats.span_s},
          {"gpu_hours", stats.gpu_hours},
          {"mean_gpus", stats.mean_gpus},
          {"arrivals_per_hour", stats.arrivals_per_hour},
          {"arrivals_peak", stats.arrivals_peak},
          {"gpus_min", stats.gpus_min},
          {"gpus_max", stats.gpus_max},
          {"fractional", stats.fractional},
          {"deadlines", stats.deadlines},
          {"duration_mean_s", stats.duration_mean_s},
          {"duration_p50_s", stats.duration_p50_s},
          {"duration_p90_s", stats.duration_p90_s},
          {"duration_p99_s", stats.duration_p99_s},
          {"duration_max_s", stats.duration_max_s},
          {"by_gpus", std::move(by_gpus)},
          {"by_duration", std::move(by_duration)},
          {"by_status", std::move(by_status)}};
}

}  // namespace tidepool::sim
