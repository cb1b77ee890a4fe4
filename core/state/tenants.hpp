// The tenants that share the pool, as an operator has set them: a tree with guarantees, weights and limits. Jobs belong
// to its leaves. core/tenants/entitlement.hpp computes what each tenant may hold at once; docs/fairness.md states the
// rule.
//
// An empty tree means that the pool is not shared by rule: any tenant name is accepted, and names have no effect.
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

// The settings with one value each are also in a table, which defines their limits and forms (tenant_settings.hpp).
struct Tenant {
  std::string name;    // unique in the tree
  std::string parent;  // its name; empty = directly under the pool
  int guarantee = 0;   // slots that it can have at any time, part of its parent's guarantee if the parent has one
  std::map<std::string, int> guarantee_by_type{};  // part of `guarantee`: available to jobs that request the type
  std::int64_t weight = 1;      // weight in sharing what is left beyond guarantees; 0 = only what no other tenant wants
  std::optional<int> borrow{};  // most slots that it may have beyond its guarantee; none = no limit
  std::optional<int> lend{};    // most unused slots of its guarantee that others may have; none = all
  // Limits on the requests of its jobs and of the jobs of tenants below it. None = no limit of its own.
  std::optional<int> priority_max{};
  std::optional<int> job_slots_max{};
  std::optional<Money> job_price_max{};     // per hour: a job must set a price cap of at most that
  std::optional<Duration> job_grace_max{};  // of `elastic.grace`: how long a job that releases slots may keep them
  std::optional<Duration> job_hold_max{};   // of `elastic.min_runtime` and `cooldown`: how long a job keeps its slots
  // The most jobs of it and of tenants below it that have not ended; a submit beyond it is refused (tenant_jobs.hpp).
  std::optional<int> jobs_max{};
  // Its jobs may close nodes to all others (`placement.exclusive`), if each tenant above it permits that, too.
  bool exclusive_nodes = false;
  std::optional<Budget> budget{};  // for its jobs and those of tenants below it
  // How long programs of its jobs, and of tenants below it, may postpone their end. None = no limit of its own.
  std::optional<Duration> notice_extension{};
  // How long a program's refusal to be preempted stays in force; 0s: refusals have no effect. None = no limit of its
  // own.
  std::optional<Duration> notice_refusal{};
  // How long its jobs, and those of tenants below it, wait before others are preempted for them; the tree has the same
  // setting.
  Duration preempt_after{};
  SharedValue<JobDefaults> defaults{};  // for its jobs and those of tenants below it
  // Guaranteed slots of a type, 0 if there are none.
  [[nodiscard]] int guarantee_of(const std::string& slot_type) const;
  bool operator==(const Tenant&) const = default;
};

inline constexpr Duration kNoticeExtensionMost = Duration::seconds(std::int64_t{24} * 3600);

// Limit on preemptions for other jobs: at most this many within any window, for one job and for all jobs together.
struct ChurnLimit {
  std::optional<int> per_job{};  // none = no limit; the fields below likewise
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
  // Over this time the weight of what a tenant held beyond its guarantee halves.
  Duration half_life = Duration::seconds(std::int64_t{24} * 3600);
  // How often the past use of tenants is recounted. In between, entitlements change only with the tenants' requests.
  Duration rebalance_every = Duration::seconds(300);
  // Limits on preemption, for all jobs, whether tenants share the pool or not (core/tenants/preemption_limits.hpp).
  Duration preempt_after{};
  std::optional<ChurnLimit> churn{};

  [[nodiscard]] bool empty() const { return tenants.empty(); }
  [[nodiscard]] const Tenant* find(std::string_view name) const;
  // No tenant is below it. Requires: the tenant exists.
  [[nodiscard]] bool is_leaf(std::string_view name) const;
  // The tenants from the top of the path to this one; empty if it does not exist. They live as long as the tree.
  [[nodiscard]] std::vector<const Tenant*> path_to(std::string_view name) const;
  [[nodiscard]] bool limits_preemption() const;
  bool operator==(const TenantTree&) const = default;
};

// A tree as a state stores it, immutable: lookups that are linear in TenantTree go by name here, in O(depth log n). Not
// copied, because the names are references to the names of its tenants.
class TenantsByName : public TenantTree {
 public:
  TenantsByName() = default;
  TenantsByName(TenantTree tree);  // NOLINT(google-explicit-constructor)
  TenantsByName(TenantsByName&&) = default;
  TenantsByName& operator=(TenantsByName&&) = default;

  [[nodiscard]] const Tenant* find(std::string_view name) const;
  [[nodiscard]] bool is_leaf(std::string_view name) const;
  [[nodiscard]] std::vector<const Tenant*> path_to(std::string_view name) const;
  // The smallest value set by a tenant on its path; 0 if none sets it, or the tenant does not exist.
  [[nodiscard]] Duration notice_extension_of(std::string_view name) const;
  [[nodiscard]] Duration notice_refusal_of(std::string_view name) const;
  // The largest value set by the tree or by a tenant on its path.
  [[nodiscard]] Duration preempt_after_of(std::string_view name) const;

 private:
  struct Place {
    std::size_t at = 0;  // index into `tenants`
    bool is_leaf = true;
  };
  std::map<std::string_view, Place> places_;
};

// All errors of the tree, each with a remedy.
[[nodiscard]] Status check_tenants(const TenantTree& tree);

// What a tenant's jobs have used since the tenant was set up, including ended jobs: slots x time, and its cost. For a
// tenant with others below it: what tenants below it had used that were removed from the tree, and its own jobs' use
// before it had tenants below it.
struct TenantUse {
  Duration slot_time;
  Money cost;
  bool operator==(const TenantUse&) const = default;
};
using TenantUses = SharedMap<std::string, TenantUse>;  // a tenant's total includes the tenants below it
// For each tenant with jobs: the jobs of it and of tenants below it.
using TenantJobs = SharedMap<std::string, int>;

// The result of the newest plan for a leaf, and the inputs of that plan.
struct TenantPlan {
  int entitled = 0;  // slots that its jobs may have, and could use within `of_types`
  int wanted = 0;    // slots that they could use, as far as known
  // It has all that it could use, which is `wanted`. If not, `wanted` may be more than its jobs would take.
  bool satisfied = false;
  // For types that jobs request in excess of supply: slots that its jobs with such requests may have. Types not named:
  // all.
  std::map<std::string, int> of_types{};
  int lacks_slots = 0;  // additional slots of these types that its jobs would use, as far as known
  // Slots held beyond its guarantee while others wanted more: decayed mean over the half-life. It is a mean and not a
  // sum: in millionths, a second's part of one slot would round to zero with a half-life of a year.
  double loan = 0;
  Duration counted_use;  // the TenantUse::slot_time that is included in it
  Mark mark;             // the policy's mark; the policy plans for each tenant separately
  [[nodiscard]] bool wants_more() const { return !satisfied || lacks_slots > 0; }
  // `wanted`, plus the slots of scarce types that its jobs do not get.
  [[nodiscard]] int wanted_in_all() const { return satisfied ? wanted + lacks_slots : wanted; }
  bool operator==(const TenantPlan&) const = default;
};
using TenantPlans = SharedMap<std::string, TenantPlan>;

}  // namespace tidepool::core
