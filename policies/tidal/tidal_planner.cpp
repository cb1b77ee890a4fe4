#include "policies/tidal/tidal_planner.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/decide/cluster_planner.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/place/node_wait.hpp"
#include "core/state/job_state.hpp"
#include "core/state/node_constraints.hpp"
#include "policies/engine/whole_cluster_policy.hpp"
#include "policies/tidal/planned_targets.hpp"
#include "policies/tidal/tidal.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::Share;

constexpr std::int64_t kStepsMost = 50'000'000;  // of one settlement

// What a bid is made of the row as of: a job that holds slots was read at its newest fact.
Instant read_at(const core::Job& job, const JobRow& row, Instant now) {
  return row.placement.empty() ? now : job.account.charged_until;
}

// None = it may be preempted, or something else keeps it from that.
Instant bound_until(const core::Job& job) {
  return core::runs_unchanged(job) ? core::resizable_at(job).value_or(Instant()) : Instant();
}

// At most, by its sizes or by a user's request for one.
int slots_asked(const core::Job& job) {
  const auto& elastic = job.spec.elastic;
  const int workers = std::max({elastic.sizes.back(), elastic.preferred, job.requests.pinned_size});
  return workers * job.spec.gpus_per_worker;
}

class TidalPolicy final : public cluster::WholeClusterPolicy {
 public:
  explicit TidalPolicy(std::string_view name)
      : WholeClusterPolicy(std::string(name), std::make_shared<const Tidal>()) {}
  [[nodiscard]] std::unique_ptr<core::Planner> planner() const override { return std::make_unique<TidalPlanner>(); }
};

}  // namespace

// Deadlines and shares of nodes are looked at each time.
bool TidalPlanner::rests(Instant now) {
  const bool has_said_all = market_state_ && followed_.empty() && unsent_updates_.empty();
  return has_said_all && promises_.empty() && shares_.empty() && cuts_.rests() && !resizable_at_.any_due(now) &&
         market_state_->rests(now);
}

Result<core::PlanAnswer> TidalPlanner::plan(const core::PlanRequest& request, core::StepBudget& budget) {
  look_at_nodes(request);
  slots_most_ = request.slots_most.value_or(std::numeric_limits<int>::max());
  shares_.limit_types(request.typed_most);
  Jobs jobs = stale(request);
  read(request, jobs);
  // Whether a job can never fit is judged by all slots, claims included.
  if (capacity() != told_capacity_) {
    told_capacity_ = capacity();
    unsent_updates_.insert(parts_.jobs());
  }
  look_at_room(request.view.now, jobs);
  bid(request, jobs);
  const core::ClusterPlan& newest = request.view.state.plan;
  const SlotPool pool{.slots = std::max(0, room()), .slots_per_node = nodes_.slots_per_node, .now = request.view.now};
  const Jobs promised = promises_.renew({.mark = request.mark, .nodes_changed = newest.nodes != request.nodes}, pool);
  for (const JobId id : promised) offer_promised(id);
  jobs.insert(promised);
  // What is counted follows from the state, as the answer does; the work itself depends on what was kept.
  budget.spend(1 + static_cast<std::int64_t>(request.looked_at.size()));
  const Market::Settlement settled = settle(request.view.now, jobs);
  unsent_updates_.insert(jobs);
  find_next_in_line();
  const Terms terms = terms_of(market_state_->market(), static_cast<double>(settled.free));
  // The reason of a change of size differs if slots have no price.
  const bool has_price = terms.price > 0;
  if (std::exchange(has_price_, has_price) != has_price) unsent_updates_.insert(cuts_.resized());
  core::PlanAnswer answer{.targets = {},
                          .whole = false,
                          .mark = promises_.of_plan(),
                          .wake = promises_.wake(),
                          .kept = static_cast<int>(settled.kept) + cuts_.held()};
  report_changes(request, terms, answer);
  return answer;
}

// The job whose bid is served next has that in its reason; it may have been another job before.
void TidalPlanner::find_next_in_line() {
  if (next_in_line_) unsent_updates_.insert(next_in_line_);
  next_in_line_ = market_state_->market().next_bidder();
  if (next_in_line_) unsent_updates_.insert(next_in_line_);
}

// Targets that are news stay to be told until the state has them.
void TidalPlanner::report_changes(const core::PlanRequest& request, const Terms& terms, core::PlanAnswer& answer) {
  const core::ClusterState& state = request.view.state;
  const PlannedTargets targets({.bought = purchases(),
                                .promises = promises_,
                                .cuts = cuts_,
                                .terms = terms,
                                .capacity = capacity(),
                                .next_in_line = next_in_line_});
  for (const JobId id : std::exchange(unsent_updates_, {})) {
    const Part* part = parts_.find(id);
    if (part == nullptr) continue;
    const core::Job& job = *state.find_job(id);
    core::Target made = part->fits ? targets.of(request.view, job) : misfit(state, job);
    if (!core::is_news(job, made, request.view.now)) continue;
    targets.add_words(job, made);
    answer.targets.emplace(id, std::move(made));
    unsent_updates_.insert(id);
  }
}

// How much there is bounds what rows say of jobs that could use more, and is in the price that every job reckons with.
// Adds those whose rows may be others.
void TidalPlanner::look_at_room(Instant now, Jobs& jobs) {
  if (room() == bid_room_) return;
  const int bounds = std::min(room(), std::exchange(bid_room_, room()));
  for (const auto& [id, part] : parts_.all()) {
    if (part.most > bounds || shares_.knows(id) || promises_.knows(id)) jobs.insert(id);
    unsent_updates_.insert(id);
  }
  market_state_->set_pool({.slots = std::max(0, room()), .slots_per_node = nodes_.slots_per_node, .now = now});
}

// A gang that bought slots and finds no room for any worker would keep every job behind it from them, so they are sold
// once more without it, unless it waits for jobs of lower priorities that may not leave yet: these would be followed by
// others of that kind. It bids again in the next plan.
Market::Settlement TidalPlanner::settle(Instant now, Jobs& jobs) {
  core::StepBudget budget(kStepsMost);
  Market::Settlement settled = market_state_->settle(now, budget);
  jobs.insert(settled.changed);
  for (const JobId id : jobs) cuts_.note(purchases(), id);
  jobs.insert(cuts_.fit(purchases(), now));
  const Jobs& without = cuts_.find_without(purchases());
  if (without.empty()) return settled;
  settled = market_state_->settle_without(without, budget);
  for (const JobId id : settled.changed) cuts_.note(purchases(), id);
  jobs.insert(settled.changed);
  jobs.insert(cuts_.fit(purchases(), now));
  return settled;
}

// Nodes were added, removed or changed: nothing that was kept is valid any longer.
void TidalPlanner::look_at_nodes(const core::PlanRequest& request) {
  if (market_state_ && nodes_.digest == request.nodes) return;
  const Jobs known = parts_.jobs();
  followed_.insert(known);
  for (const JobId id : known) forget(id);
  nodes_ = {.digest = request.nodes};
  rows_.follow_nodes(request.view.state);
  std::vector<NodeShares::NodeSlots> nodes;
  for (const NodeId id : rows_.nodes()) {
    const core::Node& node = *request.view.state.find_node(id);
    const int slots = static_cast<int>(node.owners.size());
    nodes_.slots_per_node = std::max(nodes_.slots_per_node, slots);
    if (!node.is_closed()) nodes_.slots += slots;
    nodes.push_back({.all = slots, .open = !node.is_closed(), .type = node.slot_type});
  }
  shares_.reset(nodes);
  parts_.reset(nodes);
  promises_.clear();
  empty_cluster_.clear();
  followed_.insert(request.jobs);
  market_state_ = std::make_unique<MarketState>(
      SlotPool{.slots = 0, .slots_per_node = nodes_.slots_per_node, .now = request.view.now});
  bid_room_ = -1;
  told_capacity_ = -1;
}

// Jobs whose facts have changed since they were read, whose time has come, or of which ended jobs let expect otherwise.
TidalPlanner::Jobs TidalPlanner::stale(const core::PlanRequest& request) {
  followed_.insert(request.looked_at);
  followed_.insert(resizable_at_.take(request.view.now));
  const Jobs spared = request.spared == nullptr ? Jobs{} : *request.spared;
  if (spared != spared_) {
    followed_.insert(spared);
    followed_.insert(std::exchange(spared_, spared));
  }
  Jobs jobs = std::exchange(followed_, {});
  for (const JobId id : Jobs(jobs)) {
    const auto moved = rows_.follow(request.view.state, id);
    jobs.insert(moved.begin(), moved.end());
  }
  return jobs;
}

void TidalPlanner::forget(JobId job) {
  if (!parts_.take_out(job, shares_)) return;
  resizable_at_.erase(job);
  cuts_.forget(job);
}

// Which jobs take part, and with what; those that the plan no longer counts with leave.
void TidalPlanner::read(const core::PlanRequest& request, const Jobs& jobs) {
  for (const JobId id : jobs) {
    forget(id);
    read(request, id);
  }
}

void TidalPlanner::read(const core::PlanRequest& request, JobId id) {
  const core::ClusterState& state = request.view.state;
  const core::Job* known = state.find_job(id);
  if (known == nullptr) return withdraw(id);
  const core::Job& job = *known;
  const bool counts = request.counts(job);
  const bool fits = may_ever_run(state, job);
  const bool has_own_policy = counts && request.has_own_policy(job);
  const bool bids = counts && fits && !cluster::is_claim(job, has_own_policy);
  if (!bids) withdraw(id);
  if (!counts) return;
  const bool asks = bids && rows_.asks(state, job);
  Part part{.bids = bids,
            .shut = false,
            .asks = asks,
            .names = asks && core::is_choosy(job.spec),
            .moves = bids && !asks && job.spec.gpus_per_worker == 1,
            .has_own_policy = has_own_policy,
            .fits = fits,
            .held = rows_.placement(state, job),
            .on_closed = 0,
            .bound_until = bound_until(job),
            .most = slots_asked(job)};
  for (const Share& share : part.held) part.on_closed += parts_.is_open(share.node) ? 0 : share.slots;
  const auto resizable = core::resizable_at(job);
  if (bids && resizable && *resizable > request.view.now) resizable_at_.set(id, *resizable);
  parts_.put(id, std::move(part), shares_);
}

// Single slots do not lie scattered, and so many are had or not; all else is asked of the nodes, since slots are sold
// here without a layout. Rows ask of fewer jobs (Misfits, engine_rows.cpp).
bool TidalPlanner::may_ever_run(const core::ClusterState& state, const core::Job& job) {
  if (!job.membership.workers.empty()) return true;
  if (!empty_cluster_.is_cheap_enough_for(state, job)) return false;
  const bool anywhere = job.spec.gpus_per_worker == 1 && !rows_.has_several_types() && !core::is_choosy(job.spec);
  if (anywhere) return true;
  return empty_cluster_.workers_of(state, job, rows_.demand_of(state, job)) >= job.spec.elastic.sizes.front();
}

void TidalPlanner::withdraw(JobId job) {
  market_state_->leave(job);
  shares_.leave(job);
  promises_.leave(job);
}

// Jobs that may be on some nodes only bid for their share of them. Adds those whose share is another.
void TidalPlanner::bid(const core::PlanRequest& request, Jobs& jobs) {
  const core::ClusterState& state = request.view.state;
  for (const JobId id : jobs) {
    const Part* part = parts_.find(id);
    if (part == nullptr || !part->bids) continue;
    const core::Job& job = *state.find_job(id);
    JobRow row = rows_.row(request.view, job,
                           {.has_own_policy = part->has_own_policy,
                            .room = std::max(0, room()),
                            .lists_nodes = false,
                            .spared = spared_.contains(id)});
    const Instant at = read_at(job, row, request.view.now);
    if (const auto* nodes = rows_.nodes_open_to(state, job)) {
      const auto kind = part->asks ? NodeShares::Kind::kAsk : NodeShares::Kind::kOn;
      shares_.put(std::move(row), at, kind, *nodes);
    } else {
      shares_.leave(id);
      parts_.set_shut(id, false);
      offer(std::move(row), at);
    }
  }
  if (shares_.empty()) return;
  core::StepBudget budget(kStepsMost);
  const NodeShares::Settled settled = shares_.settle(request.view.now, budget);
  jobs.insert(settled.moved);
  jobs.insert(settled.words);
  for (const JobId id : settled.moved) {
    const bool is_shut = shares_.shut(id).has_value();
    parts_.set_shut(id, is_shut);
    if (is_shut) {
      market_state_->leave(id);
      promises_.leave(id);
    } else {
      offer(shares_.cut_row(id), shares_.read_at(id));
    }
  }
}

// For all slots.
void TidalPlanner::offer(JobRow row, Instant at) {
  promises_.put(row, at);
  if (promises_.knows(row.id)) return offer_promised(row.id);
  market_state_->put(std::move(row), at);
}

void TidalPlanner::offer_promised(JobId job) {
  PromiseBook::Bidder bidder = promises_.bidder(job);
  market_state_->put(std::move(bidder.row), bidder.at, bidder.promised);
}

core::Target TidalPlanner::misfit(const core::ClusterState& state, const core::Job& job) {
  const auto held = empty_cluster_.known_workers_of(job, rows_.demand_of(state, job));  // none: its price cap decides
  const int cluster = held.value_or(0) * job.spec.gpus_per_worker;
  return {.reason = core::never_fits(state, job, cluster, core::is_choosy(job.spec)), .lost = {}, .mark = {}};
}

std::unique_ptr<const core::Policy> make_tidal(std::string_view name) {
  return std::make_unique<const TidalPolicy>(name);
}

}  // namespace tidepool::policies::tidal
