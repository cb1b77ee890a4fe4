#include "policies/cluster/allocation_check.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tidepool::policies::cluster {
namespace {

Error broken(const View& view, std::size_t row, const std::string& law) {
  return {ErrorCode::kInternal, view.jobs[row].id.text() + ": " + law};
}

Status check_order(const View& view, const Allocation& allocation) {
  std::vector<bool> seen(view.jobs.size(), false);
  for (const std::size_t row : allocation.order) {
    if (row >= seen.size() || seen[row]) {
      return Error{ErrorCode::kInternal,
                   "the order of placement names row " + std::to_string(row) + " twice or beyond the last job"};
    }
    seen[row] = true;
  }
  if (allocation.order.size() != seen.size()) {
    return Error{ErrorCode::kInternal, "the order of placement leaves jobs out"};
  }
  return ok_status();
}

// What a grant asks of one slot type, and what it says of admission.
Status check_kind(const View& view, std::size_t row, const Grant& grant, std::vector<int>& left) {
  if (grant.type < -1 || grant.type >= static_cast<int>(left.size())) {
    return broken(view, row, "slot type " + std::to_string(grant.type) + " does not exist");
  }
  if (grant.type >= 0) {
    int& free = left[static_cast<std::size_t>(grant.type)];
    free -= grant.size;
    if (free < 0) return broken(view, row, "more slots of one type are granted than there are");
  }
  if (grant.declined && (grant.size > 0 || view.jobs[row].held > Duration())) {
    return broken(view, row, "a job that runs or has run cannot be declined");
  }
  return ok_status();
}

// `type`: that was granted; below 0 = any.
struct Placed {
  const Placement& placement;
  int type = -1;
};

Status check_shares(const View& view, std::size_t row, const Placed& placed, std::vector<int>& used) {
  std::vector<bool> seen(view.nodes.size(), false);
  for (const Share& share : placed.placement) {
    if (share.node < 0 || static_cast<std::size_t>(share.node) >= seen.size()) {
      return broken(view, row, "placed on a node that does not exist");
    }
    const auto node = static_cast<std::size_t>(share.node);
    if (seen[node]) return broken(view, row, "has two shares on one node");
    if (placed.type >= 0 && view.nodes[node].type != placed.type)
      return broken(view, row, "is placed on slots of another type");
    if (share.slots < 1) return broken(view, row, "has a share without slots");
    seen[node] = true;
    used[node] += share.slots;
    if (used[node] > view.nodes[node].slots) {
      return broken(view, row, "node " + view.nodes[node].id.text() + " is given more slots than it has");
    }
  }
  return ok_status();
}

}  // namespace

Status check_allocation(const View& view, const Allocation& allocation) {
  if (allocation.grants.size() != view.jobs.size()) {
    return Error{ErrorCode::kInternal, "a policy answers for every job, and once"};
  }
  std::int64_t sum = 0;
  std::vector<int> left;
  left.reserve(view.types.size());
  for (std::size_t type = 0; type < view.types.size(); ++type) {
    left.push_back(view.slots_of_type(static_cast<int>(type)));
  }
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const int size = allocation.grants[row].size;
    if (size < 0 || size > view.jobs[row].size_max) {
      return broken(
          view, row,
          "size " + std::to_string(size) + " is not between 0 and " + std::to_string(view.jobs[row].size_max));
    }
    TP_TRY(check_kind(view, row, allocation.grants[row], left));
    sum += size;
  }
  if (sum > view.slots()) {
    return Error{ErrorCode::kInternal, "the sizes add up to " + std::to_string(sum) + " slots, the cluster has " +
                                           std::to_string(view.slots())};
  }
  const auto typed = [](const Grant& grant) { return grant.type >= 0; };
  const auto count = std::count_if(allocation.grants.begin(), allocation.grants.end(), typed);
  if (count != 0 && count != static_cast<std::int64_t>(allocation.grants.size())) {
    return Error{ErrorCode::kInternal, "some grants of the round name a slot type and some do not"};
  }
  return check_order(view, allocation);
}

Status check_placements(const View& view, const Allocation& allocation, const std::vector<Placement>& placements) {
  if (placements.size() != view.jobs.size()) {
    return Error{ErrorCode::kInternal, "a place stage answers for every job, and once"};
  }
  std::vector<int> used(view.nodes.size(), 0);
  for (std::size_t row = 0; row < placements.size(); ++row) {
    const int granted = allocation.grants[row].size;
    TP_TRY(check_shares(view, row, {placements[row], allocation.grants[row].type}, used));
    if (size_of(placements[row]) != granted) {
      return broken(view, row,
                    "was granted " + std::to_string(granted) + " slots and placed on " +
                        std::to_string(size_of(placements[row])));
    }
  }
  return ok_status();
}

}  // namespace tidepool::policies::cluster
