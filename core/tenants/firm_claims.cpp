#include "core/tenants/firm_claims.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "core/state/job_state.hpp"

namespace tidepool::core {
namespace {

bool holds_nothing(const Job& job) {
  return job.state() == JobState::kPending && job.membership.workers.empty();
}

// Slots of firm jobs, by tenant including the tenants below it.
class FirmSlots {
 public:
  explicit FirmSlots(const std::vector<TenantNode>& nodes) : nodes_(nodes), slots_(nodes.size(), 0) {}

  void add(std::size_t leaf, int slots) {
    for (int at = static_cast<int>(leaf); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
      slots_[static_cast<std::size_t>(at)] += slots;
    }
  }
  // The first tenant, from the leaf up, whose guarantee has no room for this many more.
  [[nodiscard]] std::optional<std::size_t> full(std::size_t leaf, int slots) const {
    for (int at = static_cast<int>(leaf); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
      const auto node = static_cast<std::size_t>(at);
      if (slots_[node] + slots > nodes_[node].guarantee) return node;
    }
    return std::nullopt;
  }
  [[nodiscard]] int of(std::size_t node) const {
    return static_cast<int>(std::min<std::int64_t>(slots_[node], std::numeric_limits<int>::max()));
  }

 private:
  const std::vector<TenantNode>& nodes_;
  std::vector<std::int64_t> slots_;
};

}  // namespace

std::map<JobId, Reason> beyond_guarantees(const ClusterState& state, const std::vector<TenantNode>& nodes,
                                          const TenantNeeds& needs,
                                          const std::function<bool(const Job&)>& is_too_dear) {
  FirmSlots firm(nodes);
  std::vector<std::tuple<bool, int, Instant, JobId>> waiting;
  for (const TenantNeeds::Sums& of_tenant : needs.by_tenant()) {
    for (const JobId id : of_tenant.firm) {
      const Job& job = *state.find_job(id);
      const JobNeed& need = *needs.find(id);
      if (holds_nothing(job)) {
        waiting.emplace_back(is_too_dear(job), -job.spec.priority, job.submitted_at, id);
      } else {
        firm.add(need.tenant.value(), need.firm);
      }
    }
  }
  std::sort(waiting.begin(), waiting.end());
  std::map<JobId, Reason> beyond;
  for (const auto& [too_dear, priority, submitted, id] : waiting) {
    const JobNeed& need = *needs.find(id);
    const std::size_t leaf = need.tenant.value();
    if (const auto full = firm.full(leaf, need.firm)) {
      beyond.emplace(id, reason::BeyondGuarantee{.needed = need.firm,
                                                 .held = firm.of(*full),
                                                 .guarantee = nodes[*full].guarantee,
                                                 .word = state.tenants->tenants[*full].name});
    } else {
      firm.add(leaf, need.firm);
    }
  }
  return beyond;
}

}  // namespace tidepool::core
