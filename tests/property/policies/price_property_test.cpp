// Lists of prices over random lives of a cluster: what jobs are charged equals, to the last microsecond, a recount that
// knows nothing of how the engine does it, and with what the pool's account takes to all slots x time x price; accounts
// of budgets agree with it; and an engine that is made from the
// written state goes on as the one that wrote it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "base/calendar.hpp"
#include "core/codec/state_rows.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/utc_time.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/tenant_budgets.hpp"

namespace tidepool::test {
namespace {

constexpr std::int64_t kMinute_us = 60'000'000;
// A Monday begins: hours, days and windows of budgets turn at once.
constexpr std::int64_t kMonday_us = std::int64_t{20'787} * 86'400 * 1'000'000;

PriceWindow random_window(Rng& rng) {
  const int near = static_cast<int>(rng.between(-4, 4));
  PriceWindow window{.days = static_cast<std::uint8_t>(rng.between(1, kAllDays)),
                     .from_minute = (kDayMinutes + near) % kDayMinutes,
                     .to_minute = static_cast<int>(rng.between(1, 8)),
                     .price = Money::micros(rng.between(0, 9'000'000))};
  if (window.from_minute == window.to_minute) window.to_minute = kDayMinutes;
  return window;
}

PriceList random_list(Rng& rng, std::int64_t now_us) {
  PriceList list;
  for (std::int64_t rules = rng.between(0, 3); rules > 0; --rules) {
    PriceRule rule{.name = "r" + std::to_string(rules), .spot_discount = static_cast<int>(rng.between(0, 100))};
    if (rng.chance(0.4)) rule.slot_type = rng.chance(0.5) ? "fast" : "slow";
    if (rng.chance(0.3)) rule.labels = {{"rack", rng.chance(0.5) ? "r1" : "r2"}};
    std::int64_t from = now_us + rng.between(-30'000'000, 60'000'000);
    for (std::int64_t entries = rng.between(1, 4); entries > 0; --entries) {
      PriceEntry entry{.from_us = from, .price = Money::micros(rng.between(0, 9'000'000))};
      if (rule.entries.empty() && rng.chance(0.3)) entry.from_us.reset();
      for (std::int64_t windows = rng.between(0, 2); windows > 0; --windows) {
        entry.schedule.push_back(random_window(rng));
      }
      rule.entries.push_back(std::move(entry));
      from += rng.between(1, 20'000'000);
    }
    list.rules.push_back(std::move(rule));
  }
  return list;
}

bool is_in(const PriceWindow& window, std::int64_t us) {
  // Minute by minute from the beginning of each of the two days that it can have begun on.
  for (const std::int64_t day : {day_of(us) - 1, day_of(us)}) {
    if ((window.days >> ((day + 3) % 7) & 1) == 0) continue;  // day 0 was a Thursday
    const int length = (window.to_minute - window.from_minute + kDayMinutes) % kDayMinutes;
    const std::int64_t begin = day * kDayMicros + window.from_minute * kMinute_us;
    if (us >= begin && us < begin + (length == 0 ? kDayMinutes : length) * kMinute_us) return true;
  }
  return false;
}

// The price of the rule, read off the list as its user would.
std::optional<Money> price_by_hand(const PriceRule& rule, std::int64_t us) {
  const PriceEntry* newest = nullptr;
  for (const PriceEntry& entry : rule.entries) {
    if (!entry.from_us || *entry.from_us <= us) newest = &entry;
  }
  if (newest == nullptr) return std::nullopt;
  for (const PriceWindow& window : newest->schedule) {
    if (is_in(window, us)) return window.price;
  }
  return newest->price;
}

// What jobs and slots have cost by hand, in millionths x microseconds / hour: after each tick, what was held since the
// one before.
class Recount {
 public:
  // What `state` holds was held from `from` to `until`, and nothing else was.
  void add(const core::ClusterState& state, Instant from, Instant until) {
    for (const auto& [id, worker] : state.workers) {
      if (worker.is_gone()) continue;
      const Wide each = cost_of_slot(state, *state.find_node(worker.node), from, until);
      costs_[worker.job] += each * static_cast<Wide>(worker.slots.size());
    }
    for (const auto& [id, node] : state.nodes) {
      if (node.state != core::NodeState::kUp) continue;
      capacity_ += cost_of_slot(state, node, from, until) * static_cast<Wide>(node.owners.size());
      slot_time_ += (until - from) * static_cast<std::int64_t>(node.owners.size());
    }
  }
  void joined(const core::NodeJoined& fact) { own_[fact.node] = fact.price_per_slot_hour; }

  void require_agrees(const SimulatedWorld& world) const {
    const auto check = [&](core::Job job, bool is_there) {
      INFO(job.id.text());
      if (is_there) core::charge(world.state(), job, world.now());
      const auto cost = costs_.find(job.id);
      const bool agrees =
          exact(job.account.cost, job.account.cost_remainder) == (cost == costs_.end() ? Wide{0} : cost->second);
      REQUIRE(agrees);
    };
    for (const auto& [id, job] : world.state().jobs) check(*job, true);
    for (const auto& [id, job] : world.ended()) check(*job, false);
  }

  // Jobs and the pool have together what all slots of nodes that were up have cost.
  void require_whole(const SimulatedWorld& world) const {
    Wide cost = 0;
    Duration slot_time;
    const auto add_job = [&](const core::Account& account) {
      cost += exact(account.cost, account.cost_remainder);
      slot_time += account.slot_time;
    };
    for (const auto& [id, job] : world.state().jobs) add_job(core::account_at(world.state(), *job, world.now()));
    for (const auto& [id, job] : world.ended()) add_job(job->account);
    const core::PoolLedger pool = pool_at(world);
    core::for_each_use(pool, INT64_MIN, INT64_MAX, [&](std::int64_t, const auto&, auto, const core::Used& used) {
      cost += exact(used.cost, 0);
      slot_time += used.slot_time;
    });
    for (const auto& [type, parts] : pool.types) {
      for (const core::PoolClass each : core::kPoolClasses) cost += parts[each].remainder;
    }
    REQUIRE(slot_time == slot_time_);
    const bool agrees = cost == capacity_;
    REQUIRE(agrees);
  }

  [[nodiscard]] static core::PoolLedger pool_at(const SimulatedWorld& world) {
    core::PoolLedger pool = world.state().pool_ledger;
    pool.count_until(world.now(), world.state().utc_us_at_zero);
    return pool;
  }

 private:
  Wide cost_of_slot(const core::ClusterState& state, const core::Node& node, Instant from, Instant until) const {
    const PriceList& list = state.prices->list;
    Wide cost = 0;
    Instant at = from;
    for (const std::int64_t us : boundaries(list, core::utc_us(state, from), core::utc_us(state, until))) {
      const Instant next = core::at_utc(state, us);
      const Money price = price_of(list, node, core::utc_us(state, at));
      cost += static_cast<Wide>(price.count_micros()) * (next - at).count_us();
      at = next;
    }
    return cost;
  }
  static std::set<std::int64_t> boundaries(const PriceList& list, std::int64_t from, std::int64_t until) {
    std::set<std::int64_t> all = {until};
    for (std::int64_t at = from - from % kMinute_us + kMinute_us; at < until; at += kMinute_us) all.insert(at);
    for (const PriceRule& rule : list.rules) {
      for (const PriceEntry& entry : rule.entries) {
        if (entry.from_us && *entry.from_us > from && *entry.from_us < until) all.insert(*entry.from_us);
      }
    }
    return all;
  }
  [[nodiscard]] Money price_of(const PriceList& list, const core::Node& node, std::int64_t us) const {
    const core::Labels labels = core::labels_of(node);
    for (const PriceRule& rule : list.rules) {
      const auto has = [&](const auto& asked) {
        const auto found = labels.find(asked.first);
        return found != labels.end() && found->second == asked.second;
      };
      const bool is_named = (rule.slot_type.empty() || rule.slot_type == node.slot_type) &&
                            std::all_of(rule.labels.begin(), rule.labels.end(), has);
      const auto price = is_named ? price_by_hand(rule, us) : std::nullopt;
      if (!price) continue;
      const auto spot = labels.find("spot");
      const bool is_spot = spot != labels.end() && spot->second == "true";
      return is_spot ? Money::micros(price->count_micros() * (100 - rule.spot_discount) / 100) : *price;
    }
    return own_.at(node.id);
  }

  std::map<JobId, Wide> costs_;
  Wide capacity_ = 0;
  Duration slot_time_;
  std::map<NodeId, Money> own_;
};

// The daemon has died at some moment, and another one has gone on from its rows.
class Restarted {
 public:
  explicit Restarted(const SimulatedWorld& world) : engine_(parts_of("tidal"), recovered(world.state())) {
    learnt_ = world.facts().size();
  }
  void follow(SimulatedWorld& world) {
    for (; learnt_ < world.facts().size(); ++learnt_) REQUIRE(engine_.step(world.facts()[learnt_]).ok());
    REQUIRE(engine_.clock_due() == world.engine().clock_due());
    const core::Decision decision = engine_.decide(world.now());
    REQUIRE(Story::text_of(decision) == Story::text_of(world.engine().decide(world.now())));
    (void)engine_.accept(decision);
  }
  void require_equals(const SimulatedWorld& world) {
    for (; learnt_ < world.facts().size(); ++learnt_) REQUIRE(engine_.step(world.facts()[learnt_]).ok());
    REQUIRE(core::digest_of(engine_.view()) == core::digest_of(world.state()));
  }

 private:
  static core::ClusterState recovered(const core::ClusterState& state) {
    core::StateFromRows rows;
    for (const core::RowKey& key : core::rows_between({}, state)) {
      const std::string text = core::row_text(state, key);
      if (!text.empty()) REQUIRE(rows.put(key, text).ok());
    }
    auto read = std::move(rows).finish(core::head_text(state));
    INFO((read.ok() ? std::string() : read.error().message));
    REQUIRE(read.ok());
    return *std::move(read);
  }

  core::Engine engine_;
  std::size_t learnt_ = 0;
};

// Facts that change prices: lists, labels, the clock.
void change_prices(SimulatedWorld& world, Rng& rng) {
  const std::int64_t now_us = core::utc_us(world.state(), world.now());
  const auto draw = rng.below(100);
  if (draw < 6) REQUIRE(world.learn(core::PricesConfigured{random_list(rng, now_us)}));
  if (draw == 7) {
    REQUIRE(world.learn(core::UtcSet{world.state().utc_us_at_zero + rng.between(-90'000'000, 90'000'000)}));
  }
  if (draw >= 8 && draw < 12) {
    const auto node = NodeId(1);
    (void)world.learn(core::NodeLabelled{node, {{"spot", rng.chance(0.5) ? "true" : "no"}}});
  }
}

// Workers of the job's kind that fit on so many slots of each node.
std::int64_t room_on(const core::ClusterState& state, const core::Job& job, auto&& slots_of) {
  std::map<std::string, std::int64_t> by_type;
  const auto& asked = job.spec.slot_types;
  for (const auto& [id, node] : state.nodes) {
    const bool may_run = asked.empty() || std::count(asked.begin(), asked.end(), node.slot_type) > 0;
    if (may_run && node.takes_workers()) by_type[node.slot_type] += slots_of(node) / job.spec.gpus_per_worker;
  }
  std::int64_t most = 0;
  std::int64_t all = 0;
  for (const auto& [type, workers] : by_type) most = std::max(most, workers), all += workers;
  return job.spec.mixed_types ? all : most;
}

// A job waits that lacks room on slots of the type, by its own account or because its gang does not fit on what is
// free.
bool is_short(const core::ClusterState& state, const std::string& type) {
  const auto free = [](const core::Node& node) {
    return static_cast<std::int64_t>(std::count(node.owners.begin(), node.owners.end(), WorkerId()));
  };
  const auto all = [](const core::Node& node) { return static_cast<std::int64_t>(node.owners.size()); };
  // Of jobs that ask alike, it is enough that one has found no room and another would fit on all slots.
  std::map<std::tuple<std::vector<std::string>, int, bool>, std::pair<bool, bool>> kinds;
  for (const auto& [id, job] : state.jobs) {
    const core::JobSpec& spec = job->spec;
    const core::BlockedOn on = job->verdict.blocked.on;
    const bool waits = job->state() == core::JobState::kPending && !core::is_withheld(*job) && !job->requests.cancel;
    const bool may_run =
        spec.slot_types.empty() || std::count(spec.slot_types.begin(), spec.slot_types.end(), type) > 0;
    if (!waits || !may_run || on == core::BlockedOn::kClusterSize) continue;
    auto& [is_found, may_fit] = kinds[{spec.slot_types, spec.gpus_per_worker, spec.mixed_types}];
    is_found = is_found || on == core::BlockedOn::kSlots || on == core::BlockedOn::kNodesCleared;
    if (room_on(state, *job, all) < spec.elastic.sizes.front()) continue;
    may_fit = true;
    if (room_on(state, *job, free) < spec.elastic.sizes.front()) return true;
  }
  return std::any_of(kinds.begin(), kinds.end(),
                     [](const auto& kind) { return kind.second.first && kind.second.second; });
}

// The classes of slots that no worker counts for, from all nodes and jobs as they are now.
void require_classes(const core::ClusterState& state) {
  std::map<std::string, core::ByPoolClass<core::UnheldSlots>> found;
  std::map<std::string, bool> shortage;
  for (const auto& [id, node] : state.nodes) {
    if (node.state != core::NodeState::kUp) continue;
    if (!shortage.contains(node.slot_type)) shortage[node.slot_type] = is_short(state, node.slot_type);
    for (const WorkerId owner : node.owners) {
      if (owner && !state.find_worker(owner)->is_gone()) continue;
      const auto open = shortage[node.slot_type] ? core::PoolClass::kFragmentation : core::PoolClass::kFree;
      const bool is_closed = owner || !node.takes_workers();
      auto& slots = found[node.slot_type][is_closed ? core::PoolClass::kUnavailable : open];
      ++slots.slots;
      slots.rate += node.price_per_slot_hour;
    }
  }
  for (const auto& [type, parts] : state.pool_ledger.types) {
    for (const core::PoolClass each : core::kPoolClasses) {
      INFO(type << " " << core::to_text(each));
      REQUIRE(parts[each].now == found[type][each]);
    }
    found.erase(type);
  }
  REQUIRE(found.empty());
}

// What the facts since `seen` have changed about the nodes' own prices.
void see_joins(Recount& recount, const SimulatedWorld& world, std::size_t& seen) {
  for (; seen < world.facts().size(); ++seen) {
    if (const auto* joined = std::get_if<core::NodeJoined>(&world.facts()[seen].fact)) recount.joined(*joined);
  }
}

}  // namespace

TEST_CASE("whatever prices are listed, jobs are charged slots x time x price, also over restarts") {
  std::size_t changes = 0;
  core::ByPoolClass<std::size_t> seen_in{};
  for_each_seed("prices", 24, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    if (rng.chance(0.5)) world.label_nodes();
    if (rng.chance(0.5)) world.close_nodes();
    Recount recount;
    BudgetLedger ledger;
    std::size_t seen = 0;
    REQUIRE(world.learn(core::UtcSet{kMonday_us - rng.between(1, 60'000'000)}));
    REQUIRE(world.share_among(with_budgets(rng, random_tenants(rng, static_cast<int>(rng.between(0, 20))))));
    REQUIRE(world.learn(core::PricesConfigured{random_list(rng, core::utc_us(world.state(), world.now()))}));
    std::unique_ptr<Restarted> restarted;
    for (int i = 0; i < 150; ++i) {
      see_joins(recount, world, seen);
      const core::ClusterState held = world.state();
      const Instant from = world.now();
      world.tick();
      recount.add(held, from, world.now());
      see_joins(recount, world, seen);
      change_prices(world, rng);
      require_books(world.state());
      if (const auto due = world.engine().clock_due(); due && *due <= world.now()) {
        REQUIRE(world.learn(core::ClockAdvanced{}));
      }
      if (rng.chance(0.03)) restarted = std::make_unique<Restarted>(world);
      if (restarted) restarted->follow(world);
      decide_and_check(world);
      recount.require_agrees(world);
      recount.require_whole(world);
      require_classes(world.state());
      for (const auto& [type, parts] : world.state().pool_ledger.types) {
        for (const core::PoolClass each : core::kPoolClasses) seen_in[each] += parts[each].now.slots > 0 ? 1 : 0;
      }
      ledger.require_agrees(world);
    }
    if (restarted) restarted->require_equals(world);
    for (const auto& fact : world.facts()) changes += std::holds_alternative<core::PricesConfigured>(fact.fact) ? 1 : 0;
  });
  if (all_seeds_run()) REQUIRE(changes > 100);
  for (const core::PoolClass each : core::kPoolClasses) {
    INFO(core::to_text(each));
    if (all_seeds_run()) REQUIRE(seen_in[each] > 100);
  }
}

}  // namespace tidepool::test
