// The value of sharing a pool to its tenants: the completion times of each tenant's jobs in the shared pool, relative
// to the same jobs alone on the slots that it is guaranteed. At a ratio of 1 or less a tenant has no reason to leave
// the pool.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/state/tenants.hpp"
#include "sim/simulator.hpp"

namespace tidepool::sim {

// The run of the tenant's jobs alone, on a cluster of its guaranteed slots: whole nodes of the shared cluster, and one
// with the remaining slots. Requires: it has a guarantee; nodes of one kind, no pools, no acts or faults that name a
// job or a node.
[[nodiscard]] SimSetup own_part(const SimSetup& shared, const core::Tenant& tenant);

// From submission to completion, mean over the completed jobs; none: no job completed.
[[nodiscard]] std::optional<double> mean_completion_s(const std::vector<JobResult>& rows);

struct TenantTimes {
  std::string tenant;
  int guarantee = 0;
  std::int64_t jobs = 0;              // completed ones
  std::optional<double> avg_jct_s;    // in the shared pool
  std::optional<double> alone_jct_s;  // on its guaranteed slots; none = not run there

  [[nodiscard]] std::optional<double> ratio() const;
};

struct Sharing {
  std::vector<TenantTimes> tenants;  // the leaves of the tree, in its order
  // Over the tenants with a ratio; none: no tenant has one.
  std::optional<double> mean_ratio;
  std::optional<double> worst_ratio;
  std::optional<double> jobs_ratio;  // of the means over all their jobs
};

// `alone_jct_s`: by tenant, for those whose jobs were run on their guaranteed slots.
[[nodiscard]] Sharing sharing_of(const core::TenantTree& tree, const SimResult& shared,
                                 const std::map<std::string, double>& alone_jct_s);

// {tenants: [{tenant, guarantee, jobs, avg_jct_s, alone_jct_s, ratio}], mean_ratio, worst_ratio, jobs_ratio}; what is
// not known is null.
[[nodiscard]] nlohmann::ordered_json to_json(const Sharing& sharing);

}  // namespace tidepool::sim
