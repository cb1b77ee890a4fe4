#include "core/decide/reconcile/cleared_gang.hpp"

#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// So many of its workers share the slots of one node: its groups, or all of them.
int workers_on_a_node(const JobSpec& spec) {
  if (is_in_wide_domain(spec)) return 1;
  return is_in_one_domain(spec) ? spec.elastic.sizes.front() : spec.elastic.group;
}

}  // namespace

bool is_in_wide_domain(const JobSpec& spec) {
  return is_in_one_domain(spec) && spec.placement.key != kNodeLabel;
}

std::optional<GangSize> cleared_size(const JobSpec& spec) {
  const PlacementSpec& placement = spec.placement;
  if (spec.scaling.price_cap || placement.exclusive || is_one_per_domain(spec)) return std::nullopt;
  if (has_groups(spec) && !is_in_one_domain(spec) && placement.key != kNodeLabel) return std::nullopt;
  const int shared = workers_on_a_node(spec);
  const GangSize size{.workers = spec.elastic.sizes.front() / shared, .slots_each = shared * spec.gpus_per_worker};
  const bool is_single = size.slots_each == 1 && !is_in_wide_domain(spec);
  return is_single ? std::nullopt : std::optional(size);
}

std::optional<int> sharing_a_node(const JobSpec& spec) {
  const int shared = workers_on_a_node(spec);
  return shared > 1 ? std::optional(shared) : std::nullopt;
}

std::string domain_told(const Job& job, const std::optional<std::string>& domain) {
  return domain ? domain_text(*domain, job.spec.placement.key) : std::string();
}

}  // namespace tidepool::core
