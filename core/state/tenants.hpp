// The tenants that share the pool, as an operator has set them: a tree with guarantees, weights and limits. Jobs belong
// to its leaves. What each tenant may hold at a time follows from it in core/tenants/entitlement.hpp; docs/fairness.md
// states the rule.
//
// An empty tree means that the pool is not shared by rule: any name of a tenant is taken, and names decide nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/money.hpp"
#include "base/result.hpp"
#include "base/shared_map.hpp"
#include "base/shared_value.hpp"
#include "base/time.hpp"
#include "core/money/budget.hpp"
#include "core/state/job_defaults.hpp"
#include "core/state/mark.hpp"

namespace tidepool::core {

inline constexpr std::size_t kTenantsMost = 10'000;
inline constexpr std::size_t kTenantDepthMost = 8;  // levels

// What is one value each stands in a table, too, from which its limits and forms follow (tenant_settings.hpp).
struct Tenant {
  std::string name;    // unique in the tree
  std::string parent;  // its name; empty = directly under the pool
  int guarantee = 0;   // slots that it can have at any time, of its parent's if that has one
  std::map<std::string, int> guarantee_by_type{};  // of `guarantee`: that can be had for jobs that ask for the type
  std::int64_t weight = 1;      // of what is left beyond guarantees; 0 = only what no other tenant wants
  std::optional<int> borrow{};  // slots that it may have beyond its guarantee; none = no limit
  std::optional<int> lend{};    // unused slots of its guarantee that others may have; none = all
  // What its jobs may ask for, and those of tenants below it. None = no limit of its own.
  std::optional<int> priority_max{};
  std::optional<int> job_slots_max{};
  std::optional<Money> job_price_max{};     // an hour: a job must set a price cap of at most that
  std::optional<Duration> job_grace_max{};  // of `elastic.grace`: for so long a job that gives up slots may keep them
  std::optional<Duration> job_hold_max{};   // of `elastic.min_runtime` and `cooldown`: for so long it keeps its slots
  // Jobs of it and of tenants below it that have not ended, at once; a submit beyond is refused (tenant_jobs.hpp).
  std::optional<int> jobs_max{};
  // Its jobs may close nodes to all others (`placement.exclusive`), if each tenant above it is granted that, too.
  bool exclusive_nodes = false;
  std::optional<Budget> budget{};  // of its jobs and those of tenants below it
  // By how much programs of its jobs, and of tenants below it, may put off their end. None = no limit of its own.
  std::optional<Duration> notice_extension{};
  // For how long a refusal of such a program to be preempted holds; 0s: none does. None = likewise, no limit of its
  // own.
  std::optional<Duration> notice_refusal{};
  // How long its jobs, and those of tenants below it, wait before others are preempted for them; likewise the tree's.
  Duration preempt_after{};
  SharedValue<JobDefaults> defaults{};  // of its jobs and those of tenants below it
  // Of slots of a type, 0 where it has none.
  [[nodiscard]] int guarantee_of(const std::string& slot_type) const;
  bool operator==(const Tenant&) const = default;
};

inline constexpr Duration kNoticeExtensionMost = Duration::seconds(std::int64_t{24} * 3600);

// How often jobs are preempted for others: at most so many times within any window, one job and all of them together.
struct ChurnLimit {
  std::optional<int> per_job{};  // none = no limit, likewise below
  std::optional<int> pool{};
  Duration window = Duration::seconds(3600);
  bool operator==(const ChurnLimit&) const = default;
};

inline constexpr Duration kPreemptAfterMost = Duration::seconds(std::int64_t{24} * 3600);
inline constexpr Duration kChurnWindowMost = Duration::seconds(std::int64_t{24} * 3600);
inline constexpr int kChurnPerJobMost = 100;
inline constexpr int kChurnOfPoolMost = 1000;

struct TenantTree {
  std::vector<Tenant> tenants;  // each after its parent
  // Over this time what a tenant held beyond its guarantee counts half as much against it.
  Duration half_life = Duration::seconds(std::int64_t{24} * 3600);
  // How often what tenants have held is counted anew. Between that, entitlements move only with what tenants ask for.
  Duration rebalance_every = Duration::seconds(300);
  // Limits on preemption, of all jobs, whether tenants share the pool or not (core/tenants/preemption_limits.hpp).
  Duration preempt_after{};
  std::optional<ChurnLimit> churn{};

  [[nodiscard]] bool empty() const { return tenants.empty(); }
  [[nodiscard]] const Tenant* find(std::string_view name) const;
  // No tenant is below it. Requires: the tenant exists.
  [[nodiscard]] bool is_leaf(std::string_view name) const;
  // From the one directly under the pool to this one; empty if it does not exist. They live as long as the tree.
  [[nodiscard]] std::vector<const Tenant*> path_to(std::string_view name) const;
  [[nodiscard]] bool limits_preemption() const;
  bool operator==(const TenantTree&) const = default;
};

// A tree as a state holds it, which does not change: what TenantTree looks for among all tenants is found by their
// names, in O(depth log n). Not copied, as the names are those of its tenants.
class TenantsByName : public TenantTree {
 public:
  TenantsByName() = default;
  TenantsByName(TenantTree tree);  // NOLINT(google-explicit-constructor)
  TenantsByName(TenantsByName&&) = default;
  TenantsByName& operator=(TenantsByName&&) = default;

  [[nodiscard]] const Tenant* find(std::string_view name) const;
  [[nodiscard]] bool is_leaf(std::string_view name) const;
  [[nodiscard]] std::vector<const Tenant*> path_to(std::string_view name) const;
  // The least that a tenant on its path sets; none of them does, or it does not exist: nothing.
  [[nodiscard]] Duration notice_extension_of(std::string_view name) const;
  [[nodiscard]] Duration notice_refusal_of(std::string_view name) const;
  // The greatest that the tree or a tenant on its path sets.
  [[nodiscard]] Duration preempt_after_of(std::string_view name) const;

 private:
  struct Place {
    std::size_t at = 0;  // index into `tenants`
    bool is_leaf = true;
  };
  std::map<std::string_view, Place> places_;
};

// All that is wrong with the tree, with what to do about it.
[[nodiscard]] Status check_tenants(const TenantTree& tree);

// What a tenant's jobs have used since it was set up, those that have ended included: slots x time, and what that cost.
// Of a tenant with others below it: what those had used that have left the tree, and its own jobs before it had others.
struct TenantUse {
  Duration slot_time;
  Money cost;
  bool operator==(const TenantUse&) const = default;
};
using TenantUses = SharedMap<std::string, TenantUse>;  // a tenant's sum is its own and those below it
// Of each tenant that has some: jobs of it and of tenants below it.
using TenantJobs = SharedMap<std::string, int>;

// What the newest plan found of a leaf, and what that plan rests on.
struct TenantPlan {
  int entitled = 0;  // slots that its jobs may have, and could use within `of_types`
  int wanted = 0;    // that they could use, as far as that is known
  // It has all that it could use, which is `wanted`. Else `wanted` may be more than its jobs would take.
  bool satisfied = false;
  // Of types that jobs ask for beyond what there is: slots that its jobs that ask for them may have. Not named: all.
  std::map<std::string, int> of_types{};
  int lacks_slots = 0;  // that its jobs would have more of these types, as far as that is known
  // Slots held beyond its guarantee while others wanted more: decayed mean over the half-life. A mean and no account:
  // in millionths a second's part of one slot would be cut to nothing under a half-life of a year.
  double loan = 0;
  Duration counted_use;  // TenantUse::slot_time that is in it
  Mark mark;             // of the policy, which plans for each tenant by itself
  [[nodiscard]] bool wants_more() const { return !satisfied || lacks_slots > 0; }
  // `wanted`, with what of scarce types its jobs are not given.
  [[nodiscard]] int wanted_in_all() const { return satisfied ? wanted + lacks_slots : wanted; }
  bool operator==(const TenantPlan&) const = default;
};
using TenantPlans = SharedMap<std::string, TenantPlan>;

}  // namespace tidepool::core
