#include "policies/cluster/cluster_view.hpp"

#include <algorithm>

#include "core/state/measured/type_records.hpp"

namespace tidepool::policies::cluster {

bool may_have(const JobRow& job, int size) {
  if (!job.sizes.empty()) return std::binary_search(job.sizes.begin(), job.sizes.end(), size);
  return size >= job.size_min && size <= job.size_max && size % job.slots_per_worker == 0;
}

const TransitionCosts& costs_at(const JobRow& job, int size) {
  const int workers = core::size_class(size / job.slots_per_worker);
  const auto found = std::find_if(job.costs_by_size.begin(), job.costs_by_size.end(),
                                  [&](const SizeCosts& known) { return known.workers == workers; });
  return found == job.costs_by_size.end() ? job.costs : found->costs;
}

int largest_size(const JobRow& job, int limit) {
  if (job.sizes.empty()) {
    const int most = std::min(limit, job.size_max);
    const int whole = most - most % job.slots_per_worker;
    return whole >= job.size_min ? whole : 0;
  }
  const auto above = std::upper_bound(job.sizes.begin(), job.sizes.end(), limit);
  return above == job.sizes.begin() ? 0 : *(above - 1);
}

int smallest_size(const JobRow& job, int least) {
  if (job.sizes.empty()) {
    const int wanted = std::max(least, job.size_min);
    const int whole = (wanted + job.slots_per_worker - 1) / job.slots_per_worker * job.slots_per_worker;
    return whole <= job.size_max ? whole : 0;
  }
  const auto above = std::lower_bound(job.sizes.begin(), job.sizes.end(), least);
  return above == job.sizes.end() ? 0 : *above;
}

int View::slots() const {
  int sum = 0;
  for (const NodeRow& node : nodes) sum += node.slots;
  return sum;
}

int View::slots_of_type(int type) const {
  int sum = 0;
  for (const NodeRow& node : nodes) sum += node.type == type ? node.slots : 0;
  return sum;
}

int View::slots_per_node() const {
  int most = 1;
  for (const NodeRow& node : nodes) most = std::max(most, node.slots);
  return most;
}

double View::price_per_hour(const Placement& placement) const {
  double sum = 0;
  for (const Share& share : placement) sum += share.slots * nodes[static_cast<std::size_t>(share.node)].price_per_hour;
  return sum;
}

std::map<std::string_view, int> View::types_held(const Placement& placement) const {
  std::map<std::string_view, int> held;
  for (const Share& share : placement) {
    const std::string& type = nodes[static_cast<std::size_t>(share.node)].slot_type;
    if (!type.empty()) held[type] += share.slots;
  }
  return held;
}

}  // namespace tidepool::policies::cluster
