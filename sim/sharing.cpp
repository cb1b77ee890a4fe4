#include "sim/sharing.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.hpp"

namespace tidepool::sim {
namespace {

std::vector<NodeKind> own_nodes(const SimSetup& shared, int slots) {
  const NodeKind kind =
      shared.kinds.empty()
          ? NodeKind{.slots = shared.cluster.slots_per_node, .slot_type = shared.cluster.slot_type, .speed = 1}
          : shared.kinds.front();
  std::vector<NodeKind> nodes;
  for (; slots > 0; slots -= kind.slots) {
    nodes.push_back(kind);
    nodes.back().slots = std::min(kind.slots, slots);
  }
  return nodes;
}

// Tenants that were run on their own parts as well.
void sum_up(Sharing& sharing) {
  double ratios = 0;
  double shared_s = 0;
  double alone_s = 0;
  int count = 0;
  for (const TenantTimes& tenant : sharing.tenants) {
    const auto ratio = tenant.ratio();
    if (!ratio) continue;
    ++count;
    ratios += *ratio;
    shared_s += *tenant.avg_jct_s * static_cast<double>(tenant.jobs);
    alone_s += *tenant.alone_jct_s * static_cast<double>(tenant.jobs);
    sharing.worst_ratio = std::max(sharing.worst_ratio.value_or(0), *ratio);
  }
  if (count == 0) return;
  sharing.mean_ratio = ratios / count;
  sharing.jobs_ratio = shared_s / alone_s;
}

nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

SimSetup own_part(const SimSetup& shared, const core::Tenant& tenant) {
  TP_CHECK(tenant.guarantee > 0, "a tenant has a part of its own if it is guaranteed slots");
  SimSetup own = shared;
  std::erase_if(own.workload.jobs, [&](const SimJob& job) { return job.spec.tenant != tenant.name; });
  own.tenants = {};
  own.kinds = own_nodes(shared, tenant.guarantee);
  own.cluster.nodes = static_cast<int>(own.kinds.size());
  own.cluster.slots_per_node = own.kinds.front().slots;
  own.keep_decisions = false;
  own.on_event = nullptr;
  own.daemon = nullptr;
  return own;
}

std::optional<double> mean_completion_s(const std::vector<JobResult>& rows) {
  double sum = 0;
  std::int64_t jobs = 0;
  for (const JobResult& row : rows) {
    if (row.state != core::JobState::kSucceeded || !row.finished_s) continue;
    sum += *row.finished_s - row.submitted_s;
    ++jobs;
  }
  if (jobs == 0) return std::nullopt;
  return sum / static_cast<double>(jobs);
}

std::optional<double> TenantTimes::ratio() const {
  if (!avg_jct_s || !alone_jct_s || *alone_jct_s <= 0) return std::nullopt;
  return *avg_jct_s / *alone_jct_s;
}

Sharing sharing_of(const core::TenantTree& tree, const SimResult& shared,
                   const std::map<std::string, double>& alone_jct_s) {
  std::map<std::string, std::vector<JobResult>> rows;
  for (const JobResult& row : shared.rows) {
    if (row.state == core::JobState::kSucceeded) rows[row.tenant].push_back(row);
  }
  Sharing sharing;
  for (const core::Tenant& tenant : tree.tenants) {
    if (!tree.is_leaf(tenant.name)) continue;
    TenantTimes& times = sharing.tenants.emplace_back();
    times.tenant = tenant.name;
    times.guarantee = tenant.guarantee;
    times.jobs = static_cast<std::int64_t>(rows[tenant.name].size());
    times.avg_jct_s = mean_completion_s(rows[tenant.name]);
    if (const auto alone = alone_jct_s.find(tenant.name); alone != alone_jct_s.end()) times.alone_jct_s = alone->second;
  }
  sum_up(sharing);
  return sharing;
}

nlohmann::ordered_json to_json(const Sharing& sharing) {
  nlohmann::ordered_json tenants = nlohmann::ordered_json::array();
  for (const TenantTimes& tenant : sharing.tenants) {
    tenants.push_back({{"tenant", tenant.tenant},
                       {"guarantee", tenant.guarantee},
                       {"jobs", tenant.jobs},
                       {"avg_jct_s", or_null(tenant.avg_jct_s)},
                       {"alone_jct_s", or_null(tenant.alone_jct_s)},
                       {"ratio", or_null(tenant.ratio())}});
  }
  return {{"tenants", std::move(tenants)},
          {"mean_ratio", or_null(sharing.mean_ratio)},
          {"worst_ratio", or_null(sharing.worst_ratio)},
          {"jobs_ratio", or_null(sharing.jobs_ratio)}};
}

}  // namespace tidepool::sim
