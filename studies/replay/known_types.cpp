#include "studies/replay/known_types.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/engine/type_shares.hpp"

namespace tidepool::sim {
namespace {

namespace cluster = policies::cluster;
using namespace policies::cluster;  // NOLINT(google-build-using-namespace): the words of its views

bool is_bound(const cluster::JobRow& job) {
  return job.nodes.has_value();
}

bool may_be_on(const cluster::JobRow& job, int node) {
  return !job.nodes || std::ranges::binary_search(*job.nodes, node);
}

// Where all jobs lie: those that may be on few nodes first; among jobs of as many nodes, those that can stay.
class Layout {
 public:
  Layout(const View& view, Allocation& allocation)
      : view_(view), allocation_(allocation), placements_(view.jobs.size()) {
    for (const NodeRow& node : view.nodes) free_.push_back(node.slots);
  }

  [[nodiscard]] std::vector<Placement> made() && {
    std::map<std::size_t, std::vector<std::size_t>> alike;  // by how many nodes they may be on
    for (const std::size_t row : allocation_.order) alike[reach(row)].push_back(row);
    for (const auto& [nodes, rows] : alike) {
      for (const std::size_t row : rows) {
        if (stays(row)) take(row, view_.jobs[row].placement);
      }
      for (const std::size_t row : rows) {
        if (placements_[row].empty()) lay_out(row);
      }
    }
    return std::move(placements_);
  }

 private:
  // On how many nodes it may be.
  [[nodiscard]] std::size_t reach(std::size_t row) const {
    return is_bound(view_.jobs[row]) ? view_.jobs[row].nodes->size() : view_.nodes.size();
  }

  [[nodiscard]] bool stays(std::size_t row) const {
    const Placement& held = view_.jobs[row].placement;
    return !held.empty() && size_of(held) == allocation_.grants[row].size &&
           std::ranges::all_of(held, [&](const Share& share) {
             return may_be_on(view_.jobs[row], share.node) &&
                    free_[static_cast<std::size_t>(share.node)] >= share.slots;
           });
  }

  void take(std::size_t row, Placement placement) {
    for (const Share& share : placement) free_[static_cast<std::size_t>(share.node)] -= share.slots;
    placements_[row] = std::move(placement);
  }

  // On the nodes with the most free slots; a job that finds no room holds nothing.
  void lay_out(std::size_t row) {
    Grant& grant = allocation_.grants[row];
    if (grant.size == 0) return;
    std::vector<std::pair<int, int>> nodes;  // most free first
    for (std::size_t node = 0; node < free_.size(); ++node) {
      const int index = static_cast<int>(node);
      if (free_[node] > 0 && may_be_on(view_.jobs[row], index)) nodes.emplace_back(-free_[node], index);
    }
    std::ranges::sort(nodes);
    Placement placement;
    int missing = grant.size;
    for (const auto& [taken, node] : nodes) {
      if (missing == 0) break;
      const int slots = std::min(missing, free_[static_cast<std::size_t>(node)]);
      placement.push_back({.node = node, .slots = slots});
      missing -= slots;
    }
    if (missing == 0) return take(row, std::move(placement));
    const int needed = grant.size;
    grant.size = 0;
    grant.reason = core::reason::WaitingForSlots{.needed = needed, .free = needed - missing};
  }

  const View& view_;
  Allocation& allocation_;
  std::vector<int> free_;  // by node
  std::vector<Placement> placements_;
};

// The answer about the jobs that may have something, with those that may have nothing behind them.
Allocation with_the_others(const View& whole, const View& part, Allocation answer,
                           const std::map<JobId, core::Target>& without) {
  Allocation all = std::move(answer);
  std::vector<Grant> grants(whole.jobs.size());
  std::vector<std::size_t> row_of;  // of the part
  for (std::size_t row = 0; row < whole.jobs.size(); ++row) {
    const auto nothing = without.find(whole.jobs[row].id);
    if (nothing == without.end()) {
      grants[row] = std::move(all.grants[row_of.size()]);
      row_of.push_back(row);
    } else {
      grants[row] = {.reason = nothing->second.reason, .lost = {}, .mark = nothing->second.mark};
    }
  }
  TP_CHECK(row_of.size() == part.jobs.size(), "a job is in the part or in what is left out");
  for (std::size_t& row : all.order) row = row_of[row];
  for (std::size_t row = 0; row < whole.jobs.size(); ++row) {
    if (without.contains(whole.jobs[row].id)) all.order.push_back(row);
  }
  all.grants = std::move(grants);
  all.placements.clear();  // made for nodes that all are alike
  return all;
}

}  // namespace

KnownTypes::KnownTypes(const TypeSpeeds& speeds, int types) : speeds_(speeds) {
  const std::vector<int> sizes = speeds.sizes();
  for (int type = 0; type < types; ++type) {
    known_.push_back(std::ranges::any_of(sizes, [&](int size) { return speeds.steps_per_second(type, size) > 0; }));
  }
  everywhere_ = std::ranges::count(known_, false) == 0;
  const auto first = std::ranges::find(known_, true);
  if (first != known_.end()) first_ = static_cast<int>(first - known_.begin());
}

double KnownTypes::step_seconds(Shape shape) const {
  shape.type = first_;
  return speeds_.step_seconds(shape);
}

std::vector<int> KnownTypes::among(const std::vector<NodeRow>& nodes) const {
  std::vector<int> found;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (known_[static_cast<std::size_t>(nodes[node].type)]) found.push_back(static_cast<int>(node));
  }
  return found;
}

bool names_types(const AllocationPolicy& policy, const View& view) {
  core::StepBudget budget(1'000'000);
  const Allocation allocation = policy.allocate(view, budget);
  return std::ranges::any_of(allocation.grants, [](const Grant& grant) { return grant.type >= 0; });
}

Result<LaidOut> ask_within_bounds(const AllocationPolicy& policy, const policies::PlaceStage& stage, const View& view,
                                  core::StepBudget& budget) {
  if (std::ranges::none_of(view.jobs, is_bound)) {
    LaidOut answer{.allocation = policy.allocate(view, budget), .placements = {}};
    TP_TRY(check_allocation(view, answer.allocation));
    answer.placements = policies::lay_out(stage, view, answer.allocation);
    return answer;
  }
  View part = view;
  std::map<JobId, core::Target> without;
  Allocation answer = policy.allocate(view, budget);
  if (answer.placements.empty()) {  // else it is a policy with a layout of its own, which it remembers: asked once
    without = share_types(part, [&](const View& some) { return policy.allocate(some, budget); });
    answer = policy.allocate(part, budget);
  }
  TP_TRY(check_allocation(part, answer));
  LaidOut all{.allocation = with_the_others(view, part, std::move(answer), without), .placements = {}};
  all.placements = Layout(view, all.allocation).made();
  return all;
}

}  // namespace tidepool::sim
