#include "core/decide/reconcile/node_clearing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/decide/open_slots.hpp"
#include "core/decide/size_planner.hpp"
#include "core/place/clearing.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

constexpr int kTriesMost = 8;  // in one place, each without a job more that finds no room elsewhere

enum class Way { kStays, kMoves, kStartsAgain };

// Workers of a job that leave together, as LeavingWorkers.
struct Departure {
  const Job* job = nullptr;
  std::vector<WorkerId> workers;
  Way way = Way::kStays;
};

bool is_in_one_domain(const JobSpec& spec) {
  return spec.placement.strategy == TopologyStrategy::kStrictPack;
}
// Of several nodes.
bool is_in_wide_domain(const JobSpec& spec) {
  return is_in_one_domain(spec) && spec.placement.key != kNodeLabel;
}

// So many of its workers share the slots of one node: its groups, or all of them.
int workers_on_a_node(const JobSpec& spec) {
  if (is_in_wide_domain(spec)) return 1;
  return is_in_one_domain(spec) ? spec.elastic.sizes.front() : spec.elastic.group;
}

// What of the job needs slots of one node together, at its smallest size: its workers, or those that share a node.
// None: no nodes are cleared for it. Single slots are enough where all of them are in one domain of several nodes.
std::optional<GangSize> cleared_size(const JobSpec& spec) {
  const PlacementSpec& placement = spec.placement;
  const bool is_apart = placement.strategy == TopologyStrategy::kStrictSpread;
  if (spec.scaling.price_cap || placement.exclusive || is_apart) return std::nullopt;
  if (has_groups(spec) && !is_in_one_domain(spec) && placement.key != kNodeLabel) return std::nullopt;
  const int shared = workers_on_a_node(spec);
  const GangSize size{.workers = spec.elastic.sizes.front() / shared, .slots_each = shared * spec.gpus_per_worker};
  const bool is_single = size.slots_each == 1 && !is_in_wide_domain(spec);
  return is_single ? std::nullopt : std::optional(size);
}

std::optional<int> group_of(const Job& job) {
  const int shared = workers_on_a_node(job.spec);
  return shared > 1 ? std::optional(shared) : std::nullopt;
}

// Empty: it may be in several.
std::string domain_told(const Job& job, const std::optional<std::string>& domain) {
  return domain ? domain_text(*domain, job.spec.placement.key) : std::string();
}

// What a clearing uses up, beside the slots of the draft.
struct Room {
  SlotReservations& reservations;
  PreemptionLimits& limits;
};

// How the workers of others leave for a job that waits.
class WaysOut {
 public:
  // Requires: nodes are cleared for the job.
  WaysOut(DecisionDraft& draft, const Job& waiting, PreemptionLimits& limits)
      : draft_(draft), waiting_(waiting), limits_(limits), gang_(*cleared_size(waiting.spec)) {}

  [[nodiscard]] const Job& waiting() const { return waiting_; }
  [[nodiscard]] GangSize gang() const { return gang_; }
  [[nodiscard]] SlotsFor claim() const { return {waiting_, gang_.workers * gang_.slots_each}; }

  [[nodiscard]] Way of(const Worker& worker) {
    if (worker.is_gone() || comes_free(draft_.state(), worker, draft_.leaving_workers())) return Way::kStays;
    const auto [way, is_first] = known_.try_emplace(worker.job);
    if (is_first) way->second = of(*draft_.state().find_job(worker.job));
    return way->second;
  }

 private:
  // Slots that it needs in one place: on a node, or in a domain.
  [[nodiscard]] int together() const { return is_in_wide_domain(waiting_.spec) ? claim().slots : gang_.slots_each; }

  [[nodiscard]] Way of(const Job& job) const {
    const bool is_bound = has_gang_rule(job.spec) || job.spec.scaling.price_cap;
    if (job.spec.gpus_per_worker >= together() || is_bound) return Way::kStays;
    if (!can_change(draft_, job) || draft_.alters(job.id) || job.membership.workers != members_of(job)) {
      return Way::kStays;
    }
    if (can_hand_on(job) && !cools_down(draft_, job)) return Way::kMoves;
    const bool outranks = job.spec.tenant == waiting_.spec.tenant && job.spec.priority > waiting_.spec.priority;
    if (outranks || !draft_.follows_plan(job) || job.requests.pinned_size > 0) return Way::kStays;
    if (preemption_barred(draft_, job) || ends_soon(job, draft_.now())) return Way::kStays;
    if (limits_.lets_refuse(claim(), job)) return Way::kStays;  // it could go on where it is
    return limits_.allow(claim(), job) ? Way::kStartsAgain : Way::kStays;
  }

  // Ascending.
  static std::vector<WorkerId> members_of(const Job& job) {
    std::vector<WorkerId> members = job.membership.members;
    std::sort(members.begin(), members.end());
    return members;
  }

  DecisionDraft& draft_;
  const Job& waiting_;
  PreemptionLimits& limits_;
  GangSize gang_;
  IdTable<JobId, Way> known_;
};

// Nodes among which the gang may be, in the order of their ids.
struct ClearedPlace {
  int type = 0;                            // the lower is tried first, if it is not in one domain
  std::optional<std::string> domain = {};  // none = it may be in several
  std::vector<NodeId> nodes = {};
};

class PlaceClearing {
 public:
  // `ways` outlives it.
  PlaceClearing(DecisionDraft& draft, WaysOut& ways, Room room, ClearedPlace place)
      : draft_(draft),
        ways_(ways),
        waiting_(ways.waiting()),
        reservations_(room.reservations),
        limits_(room.limits),
        gang_(ways.gang()),
        place_(std::move(place)) {
    for (const NodeId id : place_.nodes) {
      free_[id] = static_cast<int>(draft.free_slots().free_on(id));
      // What comes free is for others, unless it was left for this job.
      open_[id] = is_being_cleared() ? reservations_.room_on(id) : free_[id];
    }
  }

  [[nodiscard]] const std::optional<std::string>& domain() const { return place_.domain; }

  // Those who leave a domain take as many slots elsewhere as they give up there.
  [[nodiscard]] bool has_slots_enough() const {
    int open = place_.domain ? draft_.free_slots().free() : 0;
    for (const auto& [node, slots] : open_) open += place_.domain ? slots - free_.at(node) : slots;
    return open >= gang_.workers * gang_.slots_each;
  }

  // Who is to leave, if that makes room.
  void look() {
    for (const auto& [node, slots] : open_) look_at(*draft_.state().find_node(node));
    choose();
  }
  [[nodiscard]] bool makes_room() const { return leave_.has_value(); }

  // The lower goes first: where others leave already, else where that costs least.
  using Rank = std::tuple<bool, int, double>;
  [[nodiscard]] Rank rank() const {
    double cost_s = 0;
    for (const std::size_t i : *leave_) cost_s += leaving_workers_[i].cost_s;
    return {!is_being_cleared(), place_.domain ? 0 : place_.type, cost_s};
  }

  // Has them leave. False: one of them stays, and others are chosen, if there are any. Requires: makes_room().
  bool clear() {
    const WorkersOn kept = nodes_kept(*leave_);
    std::map<JobId, Departure> leaving;
    for (const std::size_t i : *leave_) join(leaving[departures_[i].job->id], departures_[i]);
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

 private:
  [[nodiscard]] bool is_being_cleared() const {
    return is_cleared_for(waiting_) && waiting_.verdict.blocked.domain == place_.domain;
  }

  void choose() { leave_ = who_leaves(open_, leaving_workers_, gang_); }

  void look_at(const Node& node) {
    std::map<JobId, Departure> here;
    for (auto owner = node.owners.begin(); owner != node.owners.end(); ++owner) {
      if (!*owner || std::find(node.owners.begin(), owner, *owner) != owner) continue;
      const Worker& worker = *draft_.state().find_worker(*owner);
      const Way way = ways_.of(worker);
      if (way == Way::kStays) continue;
      const Job& job = *draft_.state().find_job(worker.job);
      if (way == Way::kStartsAgain && !whole_.insert(job.id)) continue;
      Departure& leaving = here[job.id];
      leaving.job = &job;
      leaving.way = way;
      if (way == Way::kStartsAgain) {
        leaving.workers = job.membership.workers;
      } else {
        leaving.workers.push_back(worker.id);
      }
    }
    for (auto& [id, leaving] : here) add(std::move(leaving));
  }

  void add(Departure leaving) {
    LeavingWorkers workers_leaving;
    for (const WorkerId id : leaving.workers) {
      const Worker& worker = *draft_.state().find_worker(id);
      workers_leaving.held[worker.node] += static_cast<int>(worker.slots.size());
    }
    const Job& job = *leaving.job;
    const auto workers = static_cast<int>(leaving.workers.size());
    workers_leaving.cost_s = leaving.way == Way::kMoves
                                 ? cost_of_moving(job, workers)
                                 : resume_cost(job).to_seconds() * workers * job.spec.gpus_per_worker;
    leaving_workers_.push_back(std::move(workers_leaving));
    departures_.push_back(std::move(leaving));
  }

  static void join(Departure& all, const Departure& more) {
    all.job = more.job;
    all.way = more.way;
    all.workers.insert(all.workers.end(), more.workers.begin(), more.workers.end());
  }

  // Once these have left.
  [[nodiscard]] WorkersOn nodes_kept(const std::vector<std::size_t>& leave) const {
    SlotsOn open = open_;
    for (const std::size_t i : leave) {
      for (const auto& [node, slots] : leaving_workers_[i].held) {
        if (const auto found = open.find(node); found != open.end()) found->second += slots;
      }
    }
    return nodes_kept_for(open, free_, gang_);
  }

  // The last that is preempted beyond what the pool's limit leaves; null = none is.
  [[nodiscard]] const Job* beyond_limit(const std::map<JobId, Departure>& leaving) const {
    std::optional<int> left = limits_.none() ? std::nullopt : limits_.left();
    const Job* last = nullptr;
    for (const auto& [id, each] : leaving) {
      if (!left || each.way != Way::kStartsAgain || limits_.covers(ways_.claim(), *each.job)) continue;
      if (--*left < 0) last = each.job;
    }
    return last;
  }

  // The first that finds none on free slots beside those that are kept; null = each finds some.
  [[nodiscard]] const Job* without_room_elsewhere(const std::map<JobId, Departure>& leaving, const WorkersOn& kept) {
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

  void keep_where_it_is(const Job& job) {
    for (std::size_t i = departures_.size(); i-- > 0;) {
      if (departures_[i].job != &job) continue;
      departures_.erase(departures_.begin() + static_cast<std::ptrdiff_t>(i));
      leaving_workers_.erase(leaving_workers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  [[nodiscard]] GangRequest request_of(const Departure& leaving) {
    const auto workers = static_cast<int>(leaving.workers.size());
    if (leaving.way == Way::kMoves) {
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

  void carry_out(const std::map<JobId, Departure>& leaving, const WorkersOn& kept) {
    for (const auto& [id, each] : leaving) {
      for (const WorkerId worker : each.workers) reservations_.add(*draft_.state().find_worker(worker));
    }
    for (const auto& [node, workers] : kept) reservations_.keep(node, workers * gang_.slots_each);
    for (const auto& [id, each] : leaving) {
      if (each.way == Way::kMoves) {
        move(each);
      } else {
        preempt_for(draft_, *each.job, waiting_.id, true);
      }
    }
  }

  void move(const Departure& leaving) {
    const Job& job = *leaving.job;
    auto joining = draft_.free_slots().take(request_of(leaving), draft_.next_worker());
    TP_CHECK(joining, "those that move have been found room elsewhere");
    std::vector<WorkerId> in_rank_order;
    for (const WorkerId id : job.membership.members) {
      if (contains(leaving.workers, id)) in_rank_order.push_back(id);
    }
    const reason::MovedForRoom reason{.for_job = waiting_.id,
                                      .size = waiting_.spec.elastic.sizes.front(),
                                      .slots_each = place_.domain ? ways_.claim().slots : gang_.slots_each,
                                      .group = group_of(waiting_),
                                      .node = draft_.state().find_worker(in_rank_order.front())->node,
                                      .cost_s = cost_of_moving(job, static_cast<int>(in_rank_order.size())),
                                      .word = domain_told(waiting_, place_.domain)};
    draft_.conclude(job, MoveIntent{job.id, *std::move(joining), std::move(in_rank_order), ReplaceCause::kTogether},
                    reason);
  }

  DecisionDraft& draft_;
  WaysOut& ways_;
  const Job& waiting_;
  SlotReservations& reservations_;
  PreemptionLimits& limits_;
  GangSize gang_;
  ClearedPlace place_;
  SlotsOn open_;
  SlotsOn free_;
  IdSet<JobId> whole_;  // jobs that give up all slots, if any
  std::vector<LeavingWorkers> leaving_workers_;
  std::vector<Departure> departures_;              // in the order of leaving_workers_
  std::optional<std::vector<std::size_t>> leave_;  // of these; none: they do not make room
  int tries_ = 0;
};

// One, or one for each type of slots and for each domain where all of its workers have to be on one or in one.
std::vector<ClearedPlace> places_for(DecisionDraft& draft, const Job& waiting) {
  const bool by_type = !waiting.spec.mixed_types && draft.free_slots().has_several_types();
  const bool by_domain = is_in_wide_domain(waiting.spec);
  std::map<std::pair<std::string, std::string>, ClearedPlace> places;
  for (const auto& [id, node] : draft.state().nodes) {
    if (!may_hold(draft, node, waiting)) continue;
    const std::string domain = by_domain ? domain_of(node, waiting.spec.placement.key) : std::string();
    ClearedPlace& place = places[{by_type ? node.slot_type : std::string(), domain}];
    if (by_domain) place.domain = domain;
    place.nodes.push_back(id);
  }
  std::vector<ClearedPlace> in_order;
  for (auto& [key, place] : places) {
    place.type = static_cast<int>(in_order.size());
    in_order.push_back(std::move(place));
  }
  return in_order;
}

// Null: no place can be cleared.
const PlaceClearing* clear_first(std::vector<PlaceClearing>& places) {
  for (;;) {
    PlaceClearing* best = nullptr;
    for (PlaceClearing& each : places) {
      if (each.makes_room() && (best == nullptr || each.rank() < best->rank())) best = &each;
    }
    if (best == nullptr || best->clear()) return best;
  }
}

// What is found of a job for which others leave nodes.
Finding waits_for_cleared(const Job& job, const std::optional<std::string>& domain) {
  const GangSize size = *cleared_size(job.spec);
  return {reason::NodesBeingCleared{.workers = size.workers,
                                    .slots_each = size.slots_each,
                                    .group = group_of(job),
                                    .word = domain_told(job, domain)},
          {.on = BlockedOn::kNodesCleared, .domain = domain}};
}

}  // namespace

bool is_cleared_for(const Job& job) {
  return job.state() == JobState::kPending && job.verdict.blocked.on == BlockedOn::kNodesCleared;
}

std::optional<Finding> clear_nodes_for(DecisionDraft& draft, const Job& waiting, SlotReservations& reservations,
                                       PreemptionLimits& limits) {
  if (!cleared_size(waiting.spec) || draft.reserved() > 0) return std::nullopt;
  WaysOut ways(draft, waiting, limits);
  std::vector<PlaceClearing> places;
  for (ClearedPlace& place : places_for(draft, waiting)) {
    PlaceClearing clearing(draft, ways, Room{reservations, limits}, std::move(place));
    if (!clearing.has_slots_enough()) continue;
    draft.set_unsettled();
    clearing.look();
    places.push_back(std::move(clearing));
  }
  const PlaceClearing* cleared = clear_first(places);
  return cleared == nullptr ? std::nullopt : std::optional(waits_for_cleared(waiting, cleared->domain()));
}

}  // namespace tidepool::core
