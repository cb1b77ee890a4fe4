// Who the tenants of a run are, whose jobs come from a workload that knows other tenants or none: equal parts of the
// pool, and jobs dealt over the leaves of a tree. Follows from the seed and what is dealt alone, so a job's tenant does
// not depend on the other jobs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/state/tenants.hpp"
#include "sim/workload.hpp"

namespace tidepool::sim {

// tenant-1, tenant-2, ...: guaranteed as many slots each, the first ones the slots that are left over. An error unless
// each has one.
[[nodiscard]] Result<core::TenantTree> equal_tenants(int count, int slots);

struct DealUnit {
  std::string_view name;
};
// What goes to one leaf together. Jobs that are submitted in the same hour of the run are often of one user, where a
// workload names none.
inline constexpr std::array kDealUnits{DealUnit{"hour"}, DealUnit{"job"}, DealUnit{"tenant"}, DealUnit{"user"}};

struct DealRules {
  std::string unit;  // of kDealUnits
  std::uint64_t seed = 1;
};

// To each leaf in proportion to what it is guaranteed; one without a guarantee counts as if it were one slot.
[[nodiscard]] Status deal_jobs(Workload& workload, const core::TenantTree& tree, const DealRules& rules);

// Every job is of a leaf, which allows what it asks for.
[[nodiscard]] Status check_jobs(const Workload& workload, const core::TenantTree& dealt);

}  // namespace tidepool::sim
