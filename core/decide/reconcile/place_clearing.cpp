#include "core/decide/reconcile/place_clearing.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/decide/reconcile/cleared_gang.hpp"
#include "core/decide/reconcile/node_clearing.hpp"
#include "core/decide/size_planner.hpp"
#include "core/place/move_costs.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

constexpr int kTriesMost = 8;  // in one place, each without a job more that finds no room elsewhere

}  // namespace

PlaceClearing::PlaceClearing(DecisionDraft& draft, EvictionChoice& ways, Uses uses, ClearedPlace place)
    : draft_(draft),
      ways_(ways),
      waiting_(ways.waiting()),
      reservations_(uses.reservations),
      limits_(uses.limits),
      gang_(ways.gang()),
      place_(std::move(place)) {
  for (const NodeId id : place_.nodes) {
    free_[id] = static_cast<int>(draft.free_slots().free_on(id));
    // What comes free is for others, unless it was left for this job.
    open_[id] = is_being_cleared() ? reservations_.room_on(id) : free_[id];
  }
}

// Workers that leave a domain take as many slots elsewhere as they release there.
bool PlaceClearing::has_slots_enough() const {
  int open = place_.domain ? draft_.free_slots().free() : 0;
  for (const auto& [node, slots] : open_) open += place_.domain ? slots - free_.at(node) : slots;
  return open >= gang_.workers * gang_.slots_each;
}

void PlaceClearing::look() {
  for (const auto& [node, slots] : open_) look_at(*draft_.state().find_node(node));
  choose();
}

PlaceClearing::Rank PlaceClearing::rank() const {
  double cost_s = 0;
  for (const std::size_t i : *leave_) cost_s += leaving_workers_[i].cost_s;
  return {!is_being_cleared(), place_.domain ? 0 : place_.type, cost_s};
}

bool PlaceClearing::clear() {
  const WorkersOn kept = nodes_kept(*leave_);
  const Departures leaving = chosen();
  const Job* stays = beyond_limit(leaving);
  if (stays == nullptr) stays = without_room_elsewhere(leaving, kept);
  if (stays == nullptr) {
    carry_out(leaving, kept);
    return true;
  }
  keep_where_it_is(*stays);
  choose();
  if (++tries_ == kTriesMost) leave_.reset();
  return false;
}

bool PlaceClearing::is_being_cleared() const {
  return is_cleared_for(waiting_) && waiting_.verdict.blocked.domain == place_.domain;
}

void PlaceClearing::look_at(const Node& node) {
  for (auto& [id, leaving] : departures_on(node)) add(std::move(leaving));
}

// Of workers there; a job that starts again leaves all its nodes at once.
PlaceClearing::Departures PlaceClearing::departures_on(const Node& node) {
  Departures here;
  for (auto owner = node.owners.begin(); owner != node.owners.end(); ++owner) {
    if (!*owner || std::find(node.owners.begin(), owner, *owner) != owner) continue;
    const Worker& worker = *draft_.state().find_worker(*owner);
    const EvictionKind way = ways_.of(worker);
    if (way == EvictionKind::kStays) continue;
    const Job& job = *draft_.state().find_job(worker.job);
    if (way == EvictionKind::kStartsAgain && !whole_.insert(job.id)) continue;
    Departure& leaving = here[job.id];
    leaving.job = &job;
    leaving.way = way;
    if (way == EvictionKind::kStartsAgain) {
      leaving.workers = job.membership.workers;
    } else {
      leaving.workers.push_back(worker.id);
    }
  }
  return here;
}

void PlaceClearing::add(Departure leaving) {
  LeavingWorkers workers_leaving;
  for (const WorkerId id : leaving.workers) {
    const Worker& worker = *draft_.state().find_worker(id);
    workers_leaving.held[worker.node] += static_cast<int>(worker.slots.size());
  }
  const Job& job = *leaving.job;
  const auto workers = static_cast<int>(leaving.workers.size());
  workers_leaving.cost_s = leaving.way == EvictionKind::kMoves
                               ? cost_of_moving(job, workers)
                               : resume_cost(job).to_seconds() * workers * job.spec.gpus_per_worker;
  leaving_workers_.push_back(std::move(workers_leaving));
  departures_.push_back(std::move(leaving));
}

// By job.
PlaceClearing::Departures PlaceClearing::chosen() const {
  Departures leaving;
  for (const std::size_t i : *leave_) {
    const Departure& each = departures_[i];
    Departure& all = leaving[each.job->id];
    all.job = each.job;
    all.way = each.way;
    all.workers.insert(all.workers.end(), each.workers.begin(), each.workers.end());
  }
  return leaving;
}

// Once these have left.
WorkersOn PlaceClearing::nodes_kept(const std::vector<std::size_t>& leave) const {
  SlotsOn open = open_;
  for (const std::size_t i : leave) {
    for (const auto& [node, slots] : leaving_workers_[i].held) {
      if (const auto found = open.find(node); found != open.end()) found->second += slots;
    }
  }
  return nodes_kept_for(open, free_, gang_);
}

// The last that is preempted beyond what the pool's limit leaves; null = none is.
const Job* PlaceClearing::beyond_limit(const Departures& leaving) const {
  std::optional<int> left = limits_.none() ? std::nullopt : limits_.left();
  const Job* last = nullptr;
  for (const auto& [id, each] : leaving) {
    if (!left || each.way != EvictionKind::kStartsAgain || limits_.covers(ways_.claim(), *each.job)) continue;
    if (--*left < 0) last = each.job;
  }
  return last;
}

// The first that finds no free unreserved slots; null = each finds some.
const Job* PlaceClearing::without_room_elsewhere(const Departures& leaving, const WorkersOn& kept) const {
  FreeSlots slots = draft_.free_slots();
  std::uint64_t no_worker = 0;
  for (const auto& [node, workers] : kept) {
    const int now = std::min(workers * gang_.slots_each, free_.at(node));
    if (now > 0) (void)slots.take_on({{node, 1}}, now, no_worker);
  }
  for (const auto& [id, each] : leaving) {
    if (!slots.take(request_of(each), no_worker)) return each.job;
  }
  return nullptr;
}

void PlaceClearing::keep_where_it_is(const Job& job) {
  for (std::size_t i = departures_.size(); i-- > 0;) {
    if (departures_[i].job != &job) continue;
    departures_.erase(departures_.begin() + static_cast<std::ptrdiff_t>(i));
    leaving_workers_.erase(leaving_workers_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

GangRequest PlaceClearing::request_of(const Departure& leaving) const {
  const auto workers = static_cast<int>(leaving.workers.size());
  if (leaving.way == EvictionKind::kMoves) {
    GangRequest request = gang_beside_members(draft_.state(), *leaving.job, workers);
    request.slot_types = draft_.types_for_more(*leaving.job);
    return request;
  }
  return {.job = leaving.job,
          .workers = workers,
          .slots_per_worker = leaving.job->spec.gpus_per_worker,
          .slot_types = leaving.job->spec.slot_types,
          .one_type = !leaving.job->spec.mixed_types};
}

void PlaceClearing::carry_out(const Departures& leaving, const WorkersOn& kept) {
  for (const auto& [id, each] : leaving) {
    for (const WorkerId worker : each.workers) reservations_.add(*draft_.state().find_worker(worker));
  }
  for (const auto& [node, workers] : kept) reservations_.keep(node, workers * gang_.slots_each);
  for (const auto& [id, each] : leaving) {
    if (each.way == EvictionKind::kMoves) {
      move(each);
    } else {
      preempt_for(draft_, *each.job, waiting_.id, true);
    }
  }
}

void PlaceClearing::move(const Departure& leaving) {
  const Job& job = *leaving.job;
  auto joining = draft_.free_slots().take(request_of(leaving), draft_.next_worker());
  TP_CHECK(joining, "those that move have been found room elsewhere");
  std::vector<WorkerId> in_rank_order = members_among(job, leaving.workers);
  const reason::MovedForRoom reason{.for_job = waiting_.id,
                                    .size = waiting_.spec.elastic.sizes.front(),
                                    .slots_each = place_.domain ? ways_.claim().slots : gang_.slots_each,
                                    .group = sharing_a_node(waiting_.spec),
                                    .node = draft_.state().find_worker(in_rank_order.front())->node,
                                    .cost_s = cost_of_moving(job, static_cast<int>(in_rank_order.size())),
                                    .word = domain_told(waiting_, place_.domain)};
  draft_.conclude(job, MoveIntent{job.id, *std::move(joining), std::move(in_rank_order), ReplaceCause::kTogether},
                  reason);
}

}  // namespace tidepool::core
