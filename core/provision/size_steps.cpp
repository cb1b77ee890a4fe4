#include "core/provision/size_steps.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "core/provision/node_room.hpp"
#include "core/provision/slot_worth.hpp"
#include "core/state/job_state.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// The fraction of the time in which the slots cost money (until they are released after the job's end) during which the
// job uses them.
double part_with(const Job& job, const SlotsMore& more) {
  const auto end = expected_end(job);
  if (!end || more.there <= more.now) return 1;
  const double left = std::max(0.0, (*end - more.now).to_seconds());
  const double lead = (more.there - more.now).to_seconds();
  return std::max(0.0, left - lead) / (left + more.spec.idle.to_seconds());
}

// For the step that led to the job's present size, if the job can have fewer; no higher step is more useful.
double use_so_far(const Job& job) {
  const auto& sizes = job.spec.elastic.sizes;
  const auto own = std::lower_bound(sizes.begin(), sizes.end(), job.size());
  return own == sizes.begin() ? 1 : use_of_more(job, *std::prev(own), job.size());
}

// The largest size that the policy is assumed to reach soon: two doublings from the largest measured size, or one from
// a size that is not measured yet.
int most_for(const Job& job) {
  const auto& measured = job.measurements.sizes;
  const int most = measured.contains(job.size()) ? 4 * measured.rbegin()->first : 2 * job.size();
  return std::max(most, job.spec.elastic.preferred);
}

bool is_on_type(const ClusterState& state, const Job& job, const std::string& slot_type) {
  return slot_type.empty() ||
         std::all_of(job.membership.workers.begin(), job.membership.workers.end(),
                     [&](WorkerId id) { return state.find_node(state.find_worker(id)->node)->slot_type == slot_type; });
}

bool is_in_groups(const SizeStep& step) {
  return has_groups(step.job->spec);
}

// False: groups find no room. For other jobs only the number of slots counts, wherever they are.
bool take_step(NodeRoom& nodes, const SizeStep& step) {
  const int workers = step.to - step.from;
  const int fit = std::min(workers, nodes.workers_of(*step.job, step.type));
  if (is_in_groups(step) && fit < workers) return false;
  nodes.take(*step.job, fit, step.type);
  return true;
}

// Each step that has room in addition to those before it, consecutive for each job.
std::vector<SizeStep> taken_in_turn(const std::vector<SizeStep>& steps, const StepRoom& room) {
  std::vector<SizeStep> taken;
  std::map<JobId, int> reached;
  int slots = room.slots;
  std::optional<NodeRoom> nodes;  // if no job has groups, only the number of slots counts
  if (std::any_of(steps.begin(), steps.end(), is_in_groups)) nodes.emplace(room.nodes);
  for (const SizeStep& step : steps) {
    const int at = reached.try_emplace(step.job->id, step.job->size()).first->second;
    if (step.from != at || step.slots() > slots || (nodes && !take_step(*nodes, step))) continue;
    reached[step.job->id] = step.to;
    slots -= step.slots();
    taken.push_back(step);
  }
  return taken;
}

}  // namespace

void sort_by_use(std::vector<SizeStep>& steps) {
  std::sort(steps.begin(), steps.end(), [](const SizeStep& one, const SizeStep& other) {
    return std::tuple(one.use, one.job->id, -one.to) < std::tuple(other.use, other.job->id, -other.to);
  });
}

int SizeStep::slots() const {
  return (to - from) * job->spec.gpus_per_worker;
}

bool runs_at_rest(const Job& job) {
  return runs_unchanged(job) && !job.progress.finished && !job.requests.cancel && !job.requests.suspend &&
         job.requests.pinned_size == 0 && !job.hold;
}

std::vector<SizeStep> steps_up(const ClusterState& state, const SlotsMore& more) {
  std::vector<SizeStep> steps;
  for (const auto& [id, job] : state.jobs) {
    if (!runs_at_rest(*job) || !suits(*job, more.spec) || job->spec.scaling.price_cap) continue;
    const std::string type = bound_type(state, *job).value_or(kAnyType);
    const double part = part_with(*job, more);
    const int most = most_for(*job);
    int from = job->size();
    double use = use_so_far(*job);
    for (const int to : job->spec.elastic.sizes) {
      if (to <= from) continue;
      if (to > most) break;
      use = std::min(use, use_of_more(*job, from, to));
      steps.push_back({.job = job.get(), .from = from, .to = to, .use = use * part, .type = type});
      from = to;
    }
  }
  std::sort(steps.begin(), steps.end(), [](const SizeStep& one, const SizeStep& other) {
    return std::tuple(-one.use, one.job->id, one.from) < std::tuple(-other.use, other.job->id, other.from);
  });
  return steps;
}

std::vector<SizeStep> best_within(const std::vector<SizeStep>& steps, const StepRoom& room) {
  std::vector<SizeStep> best = taken_in_turn(steps, room);
  if (std::none_of(steps.begin(), steps.end(), is_in_groups)) return best;
  // A slot used by a better step may be the one that a whole group then lacks.
  std::vector<SizeStep> groups_first;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(groups_first), is_in_groups);
  std::remove_copy_if(steps.begin(), steps.end(), std::back_inserter(groups_first), is_in_groups);
  std::vector<SizeStep> other = taken_in_turn(groups_first, room);
  return use_of(other) > use_of(best) ? other : best;
}

NodesMore with_nodes_more(const std::vector<SizeStep>& steps, const StepRoom& room, const PoolNodes& more) {
  NodeRoom nodes = room.nodes;
  nodes.add(more.pool, more.count);
  const int slots = more.count * more.pool.slots_per_node;
  NodesMore with{.best = best_within(steps, {nodes, room.slots + slots})};
  with.use = (use_of(with.best) - use_of(best_within(steps, room))) / slots;
  return with;
}

int nodes_for_a_step(const std::vector<SizeStep>& steps, const NodeRoom& room, const PoolSpec& pool) {
  int most = 1;
  for (const SizeStep& step : steps) {
    const int each = room.workers_on_more(*step.job, pool);
    if (each > 0) most = std::max(most, (step.to - step.from + each - 1) / each);
  }
  return most;
}

double use_of(const std::vector<SizeStep>& steps) {
  double use = 0;
  for (const SizeStep& step : steps) use += step.use * step.slots();
  return use;
}

std::vector<SizeStep> steps_down(const ClusterState& state, const std::string& slot_type) {
  std::vector<SizeStep> steps;
  for (const auto& [id, job] : state.jobs) {
    if (!runs_at_rest(*job) || !is_on_type(state, *job, slot_type)) continue;
    const auto& sizes = job->spec.elastic.sizes;
    int to = job->size();
    double use = 0;
    for (auto from = sizes.rbegin(); from != sizes.rend(); ++from) {
      if (*from >= to) continue;
      use = std::max(use, use_of_more(*job, *from, to));
      steps.push_back({.job = job.get(), .from = *from, .to = to, .use = use});
      to = *from;
    }
  }
  sort_by_use(steps);
  return steps;
}

std::optional<SizeStep> step_down(const Job& job, int workers) {
  const auto& sizes = job.spec.elastic.sizes;
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), job.size() - workers);
  if (above == sizes.begin()) return std::nullopt;
  const int least = *std::prev(above);
  return SizeStep{.job = &job, .from = least, .to = job.size(), .use = use_of_more(job, least, job.size())};
}

std::optional<double> lost_with(const std::vector<SizeStep>& steps, int slots) {
  double use = 0;
  for (auto step = steps.begin(); slots > 0; ++step) {
    if (step == steps.end()) return std::nullopt;
    use += step->use * std::min(slots, step->slots());
    slots -= step->slots();
  }
  return use;
}

}  // namespace tidepool::core
