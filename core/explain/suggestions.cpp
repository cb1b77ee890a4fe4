#include "core/explain/suggestions.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/calendar.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/explain/pool_evidence.hpp"
#include "core/explain/tenant_evidence.hpp"
#include "core/explain/victim_evidence.hpp"
#include "core/explain/wait_bounds.hpp"
#include "core/facts/tenant_facts.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/placement.hpp"
#include "core/provision/node_room.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/reason_read.hpp"
#include "core/state/utc_time.hpp"
#include "core/words/notice_words.hpp"
#include "core/words/unblock.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kSuggestionsMax = 4;
constexpr std::size_t kLendersNamed = 2;   // those that keep most
constexpr std::size_t kVictimsTried = 16;  // each is a check of the whole pool
constexpr const char* kMixTypes = "resources.gpu.mixed: true, so that its workers may be on slots of several types";

// No change is in progress or requested, so only time may prevent one.
bool may_change_in_time(const Job& job) {
  return runs_unchanged(job) && !job.requests.suspend && !job.requests.cancel && job.requests.pinned_size == 0;
}

// Slots released by running jobs would let it start.
bool waits_for_others(const Job& job, const Reason& why) {
  return job.state() == JobState::kPending && (traits_of(why).blocks == Blocks::kForLackOfSlots ||
                                               is_any_of<reason::PriceWait, reason::MeritWait, reason::TurnWait>(why));
}

// The job runs until a user ends it.
bool can_be_cancelled(const Job& job) {
  return is_active(job.state()) && !winds_down(job) && !job.requests.cancel;
}

// The pool as it would be without certain jobs.
class WithoutJob {
 public:
  explicit WithoutJob(const ClusterState& state) : trial_(state) {}

  // The job could start at its smallest size.
  [[nodiscard]] bool fits(const Job& job, const Job& without) {
    put(without, false);
    const bool has_room = FreeSlots(trial_).room_for(job) >= gang_of(job);
    put(without, true);
    return has_room;
  }

 private:
  void put(const Job& job, bool holds) {
    for (const WorkerId id : job.membership.workers) {
      const Worker& worker = *trial_.find_worker(id);
      if (worker.is_gone()) continue;
      Node& node = trial_.nodes.edit(worker.node);
      for (const int slot : worker.slots) node.owners[static_cast<std::size_t>(slot)] = holds ? id : WorkerId();
    }
  }

  ClusterState trial_;
};

struct Shortage {
  int slots = 0;
  const std::string* tenant = nullptr;  // only jobs of this tenant may end; null = any
};

// Other running jobs whose end alone would make enough room: first jobs of the job's own tenant, whose users may end
// them, and among these the smallest.
void suggest_victims(const ClusterState& state, const Job& job, const Shortage& lacks, Explanation& out) {
  std::vector<std::tuple<bool, int, JobId>> victims;  // of another tenant, slots
  for (const auto& [id, other] : state.jobs) {
    if (id == job.id || !can_be_cancelled(*other)) continue;
    if (lacks.tenant != nullptr && other->spec.tenant != *lacks.tenant) continue;
    const int held = slots_held_for(state, *other, job);
    if (held >= lacks.slots && held > 0) victims.emplace_back(other->spec.tenant != job.spec.tenant, held, id);
  }
  if (victims.empty()) return;
  std::sort(victims.begin(), victims.end());
  if (victims.size() > kVictimsTried) victims.resize(kVictimsTried);
  WithoutJob pool(state);
  for (const auto& [is_foreign, held, id] : victims) {
    if (out.advice.size() >= 2) return;
    if (!pool.fits(job, *state.find_job(id))) continue;
    out.advice.push_back(advice_to_cancel(id, ", which holds " + counted(held, "slot")));
  }
}

// For workers with several slots: the node that lacks least for one more worker.
void suggest_node(const ClusterState& state, int slots, const FreeSlots& free, Explanation& out) {
  const Node* best = nullptr;
  for (const auto& [id, node] : state.nodes) {
    const bool usable = node.takes_workers() && static_cast<int>(node.owners.size()) >= slots;
    if (usable && (best == nullptr || free.free_on(id) > free.free_on(best->id))) best = &node;
  }
  if (slots == 1 || best == nullptr) return;
  const int lacks = slots - static_cast<int>(free.free_on(best->id));
  if (lacks > 0) out.advice.push_back("free " + counted(lacks, "more slot") + " on " + best->name);
}

// The time until which a running job keeps slots that its policy gives to others, or would divide differently if the
// job's size could change, and the cause. None: time is not the cause.
struct KeepsUntil {
  Instant at;
  const char* by = "";
};
std::optional<KeepsUntil> keeps_until(const ClusterState& state, const Job& other, const Job& waits) {
  if (!other.planned || !may_change_in_time(other)) return std::nullopt;
  const Target& target = other.planned->target;
  const auto* held = reason_as<reason::PriceHold>(target.reason);
  const bool is_blocked = held != nullptr && held->next == 0;
  const bool gives_all = target.size == 0;
  const bool may_leave = other.spec.preemptible && other.spec.priority <= waits.spec.priority;
  if (gives_all ? !other.spec.preemptible : target.size >= other.size() && !(is_blocked && may_leave)) {
    return std::nullopt;
  }
  const auto runtime =
      other.last_start_at ? std::optional(*other.last_start_at + other.spec.elastic.min_runtime) : std::nullopt;
  const auto until = resizable_at(other);
  if (!until || *until <= state.now) return std::nullopt;
  return KeepsUntil{*until, until == runtime ? "elastic.min_runtime" : "elastic.cooldown"};
}

// The first of the jobs that may release slots where the job may run, and when.
void suggest_end_of_cooldown(const ClusterState& state, const Job& job, Explanation& out) {
  std::optional<KeepsUntil> first;
  JobId holder;
  for (const auto& [id, other] : state.jobs) {
    if (id == job.id || slots_held_for(state, *other, job) == 0) continue;
    const auto until = keeps_until(state, *other, job);
    if (!until || (first && first->at <= until->at)) continue;
    first = until;
    holder = id;
  }
  if (!first) return;
  out.advice.push_back("wait until " + utc_clock_text(utc_second_from(state, first->at)) + ": " + holder.text() +
                       " keeps its slots until then (" + first->by + ")");
}

// Jobs preempted for it release all slots that it lacks: the only advice is to wait for them.
bool has_enough_coming(const ClusterState& state, const Job& job, Explanation& out) {
  const auto given = given_up_for(state, job);
  const int needed = job.spec.elastic.sizes.front() * job.spec.gpus_per_worker;
  if (!given || given->slots + FreeSlots(state).free_for(job) < needed) return false;
  out.advice.push_back("wait" + (given->by ? " until " + clock_text(state, *given->by) : "") + ": " + given->words);
  return true;
}

// Room elsewhere does not help a job whose tenant has all slots that it may have.
void suggest_share(const ClusterState& state, const Job& job, int needed, Explanation& out) {
  suggest_victims(state, job, {.slots = needed, .tenant = &job.spec.tenant}, out);
  out.advice.push_back(
      advice_for_admin("a larger guarantee for tenant " + job.spec.tenant + ": schedctl tenants apply FILE"));
}

// Advice about the tenant's share, if the job waits for it or is limited by it.
void suggest_lending(const Job& job, Explanation& out) {
  const bool lacks_share = waits_for_others(job, out.reason) || is_any_of<reason::ShareHold>(out.reason);
  if (out.kept_by_guarantees == 0 || !lacks_share) return;
  Advice ask("ask an operator to raise lend of the tenants that keep slots");
  ask.of_lenders = true;
  out.advice.push_back(std::move(ask));
}

// The remains of ended workers must disappear, or the operator must know that there are none.
void suggest_quarantined(const ClusterState& state, const Node& node, Explanation& out) {
  const SlotHold* hold = nullptr;
  int slots = 0;
  for (const WorkerId id : node.owners) {
    const Worker* owner = state.find_worker(id);
    if (owner == nullptr || !owner->held) continue;
    hold = &*owner->held;
    ++slots;
  }
  if (hold == nullptr) return;
  out.advice.push_back(
      advice_for_admin(counted(slots, "slot") + " of " + node.name + " must leave quarantine (" + hold->why +
                       "); if you know that nothing is left there: schedctl node release-slots " + node.name));
}

// The first node that the job may use.
void suggest_lost(const ClusterState& state, const Job& job, Explanation& out) {
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kLost || state.has_gone(node) || !may_run_on(job, node)) continue;
    out.advice.push_back(advice_for_admin("bring back " + node.name + ", whose agent is away"));
    return;
  }
}

// Its pool keeps it drained, whatever an operator does.
bool is_lost_to_pool(const ClusterState& state, const Node& node) {
  const PoolNode* mine = state.pools.find_node(node.id);
  return mine != nullptr && goes_anyway(*mine, state.now);
}

// Reasons name the node to undrain, but do not know about pools.
std::vector<Advice> without_vain_undrains(const ClusterState& state, std::vector<Advice> lines) {
  for (const auto& [id, node] : state.nodes) {
    if (!node.drain || !is_lost_to_pool(state, node)) continue;
    std::erase_if(lines, [&](const Advice& each) { return each.text == "schedctl undrain " + id.text(); });
  }
  return lines;
}

// Reasons name the job whose end would help according to its policy, but do not know about nodes: its slots on nodes
// that accept no new workers would not become free.
std::vector<Advice> without_vain_ends(const ClusterState& state, const Job& job, std::vector<Advice> lines) {
  std::erase_if(lines, [&](const Advice& each) {
    const Job* holder = each.ends ? state.find_job(each.ends) : nullptr;
    return holder != nullptr && !holder->membership.workers.empty() && slots_held_for(state, *holder, job) == 0;
  });
  return lines;
}

// Reasons do not know about guarantees: if not even the smallest size is within them, a request for a size is refused.
std::vector<Advice> without_refused_sizes(const ClusterState& state, const Job& job, std::vector<Advice> lines) {
  std::erase_if(lines,
                [&](const Advice& each) { return each.pins && !check_pin(state, job, job.spec.elastic.min).ok(); });
  return lines;
}

std::vector<Advice> with_share_rule(const ClusterState& state, const Job& job, const Reason& why) {
  const auto lines = without_refused_sizes(state, job, advice_of(why, job.id));
  return without_vain_ends(state, job, without_vain_undrains(state, lines));
}

// What makes a node that is up, or some of its slots, accept workers again.
void suggest_reopened(const ClusterState& state, const Node& node, Explanation& out) {
  if (node.cordoned) out.advice.push_back(advice_for_admin("uncordon " + node.name));
  if (node.drain && !is_lost_to_pool(state, node)) {
    const auto window = node.drain->only_window();
    out.advice.push_back(advice_for_admin(window ? "schedctl maintenance remove " + window_name(*window)
                                                 : "schedctl undrain " + node.name));
  }
  if (node.is_unsteady()) {
    const double left = (*node.faults->until - state.now).to_seconds();
    out.advice.push_back(advice_for_admin(node.name + " stays without a fault for " +
                                          waiting_time(std::max(1.0, left)) + ", or: schedctl node clear-faults " +
                                          node.name));
  }
  suggest_quarantined(state, node, out);
}

void suggest_room(const ClusterState& state, const Job& job, Explanation& out) {
  const int slots = job.spec.gpus_per_worker;
  const int needed = job.spec.smallest_slots();
  const FreeSlots free(state);
  const int fits = free.room_for(job);
  if (has_used_share(state, job.spec.tenant)) return suggest_share(state, job, needed, out);
  suggest_lost(state, job, out);
  suggest_victims(state, job, {.slots = needed - free.free_for(job)}, out);
  if (fits >= 1 && fits < job.spec.elastic.min) {
    out.advice.push_back("lower elastic.min to " + std::to_string(fits));
  }
  const int short_by = std::max(slots, needed - fits * slots);
  suggest_node(state, slots, free, out);
  if (fits_if_mixed(state, job, RoomIn::kFreeSlots)) out.advice.emplace_back(kMixTypes);
  out.advice.push_back(advice_for_admin("add a node with " + counted(short_by, "free slot")));
  for (const auto& [id, node] : state.nodes) {
    if (node.state == NodeState::kUp && may_run_on(job, node)) suggest_reopened(state, node, out);
  }
}

// The pools that could bring more nodes if they were allowed to.
void suggest_pools(const ClusterState& state, const Job& job, Explanation& out) {
  for (const auto& [name, pool] : state.pools.pools) {
    if (pool.retired || !suits(job, pool.spec)) continue;
    out.advice.push_back(
        advice_for_admin("raise max of pool " + name + ", which is " + counted(pool.spec.max, "node")));
  }
}

// What prevents pools that suit the job from creating nodes.
void suggest_pool_repairs(const ClusterState& state, const Job& job, Explanation& out) {
  for (const auto& [name, pool] : state.pools.pools) {
    if (pool.retired || !suits(job, pool.spec)) continue;
    if (pool.backoff.failures > 0) out.advice.push_back(advice_for_admin("fix the error of pool " + name));
    if (spot_share_binds(state.pools, pool.spec)) {
      out.advice.push_back(
          advice_for_admin("raise spot_share of the pools, which is " + decimal(state.pools.spot_share)));
    }
  }
}

void suggest_never_fits(const ClusterState& state, const Job& job, const reason::NeverFits& why, Explanation& out) {
  const int slots = job.spec.gpus_per_worker;
  const int room = std::max(why.cluster, why.with_pools.value_or(0));
  if (room >= why.needed) return;
  const int fits = room / slots;
  if (fits_if_mixed(state, job, RoomIn::kEmptyCluster)) out.advice.emplace_back(kMixTypes);
  if (fits >= 1) out.advice.push_back("lower elastic.min to " + std::to_string(fits));
  suggest_pools(state, job, out);
  const std::string type = why.typed ? " of a type that it asks for" : why.word.empty() ? "" : " of type " + why.word;
  out.advice.push_back(advice_for_admin("add a node with " + counted(why.needed - why.cluster, "slot") + type));
  if (fits == 0 && slots > 1) out.advice.push_back("lower resources.gpus_per_worker: no node holds such a worker");
}

// For a job with rules for its workers together: the number of workers that find room under the rules, now or ever.
void suggest_smaller(const ClusterState& state, const Job& job, Explanation& out) {
  const auto* never = reason_as<reason::DomainsTooSmall>(out.reason);
  if (never != nullptr && never->with_pools.value_or(0) >= never->needed) return;
  const int fits =
      never == nullptr ? FreeSlots(state).room_for(job) : never->room / (never->apart ? 1 : job.spec.gpus_per_worker);
  if (fits >= 1 && fits < job.spec.elastic.min) {
    out.advice.push_back("lower elastic.min to " + std::to_string(fits));
  }
  if (never != nullptr) suggest_pools(state, job, out);
  const RoomIn room = never == nullptr ? RoomIn::kFreeSlots : RoomIn::kEmptyCluster;
  if (fits_if_mixed(state, job, room)) out.advice.emplace_back(kMixTypes);
}

// Whether `line` is `less`, or `less` with a slot type added.
bool adds_type(const std::string& line, const std::string& less) {
  return line == less || line.starts_with(less + " of type ");
}

// If one of two lines adds a type, that line stays. `text_of`: the text of a line.
template <class Line, class TextOf>
void append_lines(const std::vector<Line>& lines, std::vector<Line>& out, TextOf text_of) {
  for (const Line& line : lines) {
    const std::string& text = std::invoke(text_of, line);
    const auto same = std::find_if(out.begin(), out.end(), [&](const Line& there) {
      return adds_type(text, std::invoke(text_of, there)) || adds_type(std::invoke(text_of, there), text);
    });
    if (same == out.end()) {
      out.push_back(line);
    } else if (adds_type(text, std::invoke(text_of, *same))) {
      *same = line;
    }
  }
}

void append_new(const std::vector<Advice>& lines, std::vector<Advice>& out) {
  append_lines(lines, out, &Advice::text);
}

}  // namespace

void append_new(const std::vector<std::string>& lines, std::vector<std::string>& out) {
  append_lines(lines, out, std::identity());
}

void name_lenders(std::vector<Keeper> keepers, bool may_set, Explanation& out) {
  const auto ask =
      std::find_if(out.advice.begin(), out.advice.end(), [](const Advice& each) { return each.of_lenders; });
  if (ask == out.advice.end() || keepers.empty()) return;
  std::sort(keepers.begin(), keepers.end(),
            [](const Keeper& a, const Keeper& b) { return std::tie(b.slots, a.tenant) < std::tie(a.slots, b.tenant); });
  if (keepers.size() > kLendersNamed) keepers.resize(kLendersNamed);
  int slots = 0;
  for (const Keeper& keeper : keepers) slots += keeper.slots;
  const auto rest = slots >= out.kept_by_guarantees ? out.advice.erase(ask) : ask;
  std::vector<Advice> named;
  for (const Keeper& keeper : keepers) {
    const std::string text =
        "let tenant " + keeper.tenant + " lend more (its lend is " + std::to_string(keeper.lend) + ")";
    named.push_back(may_set ? Advice(text) : advice_for_admin(text));
  }
  out.advice.insert(rest, named.begin(), named.end());
}

void add_unblocks(const ClusterState& state, const Job& job, Explanation& out) {
  const Reason& why = out.reason;
  if (waits_for_others(job, why)) {
    if (has_enough_coming(state, job, out)) return;
    suggest_end_of_cooldown(state, job, out);
  }
  suggest_lending(job, out);
  if (const auto* never = reason_as<reason::NeverFits>(why)) suggest_never_fits(state, job, *never, out);
  if (is_any_of<reason::DomainsTooSmall, reason::WaitingForDomains>(why)) suggest_smaller(state, job, out);
  if (is_any_of<reason::WaitingForSlots, reason::PreemptsLater, reason::PreemptionLimit, reason::PreemptionRefused,
                reason::WaitingForNodes, reason::BehindOlderJob, reason::TurnWait>(why))
    suggest_room(state, job, out);
  if (is_any_of<reason::NoNodeMatches, reason::NoNodes>(why)) suggest_lost(state, job, out);
  if (is_any_of<reason::NoNodes>(why)) suggest_pool_repairs(state, job, out);
  append_new(with_share_rule(state, job, why), out.advice);
  if (out.chosen && !same_kind(out.chosen->reason, why)) {
    append_new(with_share_rule(state, job, out.chosen->reason), out.advice);
  }
  const auto resizable = job.planned && job.state() == JobState::kRunning ? resizable_at(job) : std::nullopt;
  if (resizable && *resizable > state.now && !is_any_of<reason::Cooldown, reason::MinRuntime>(why)) {
    append_new({"wait " + waiting_time((*resizable - state.now).to_seconds()) + ": its size cannot change before"},
               out.advice);
  }
  if (is_any_of<reason::PriceWait>(why)) {
    const int slots = job.spec.smallest_slots();
    append_new({advice_for_admin("add a node with " + counted(slots, "free slot"))}, out.advice);
  }
  if (out.advice.size() > kSuggestionsMax) out.advice.erase(out.advice.begin() + kSuggestionsMax, out.advice.end());
}

}  // namespace tidepool::core
