// The tenants that share a pool, as a file or a request states them: nested, strict to read. docs/fairness.md says what
// the fields mean. This is the wire's view; schedulerd/leader/tenant_file.hpp turns it into core::TenantTree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool::api::v1 {

struct BudgetFields {
  struct Threshold {
    int percent = 100;
    std::string action;  // "warn", "shrink", "pause", "stop"
  };
  Money limit;
  std::string window = "month";  // or "day", "week"
  std::vector<Threshold> thresholds = {{80, "warn"}, {100, "pause"}};
};

struct TenantFields {
  std::string name;
  std::string parent;                            // empty = directly under the pool
  int guarantee = 0;                             // slots
  std::map<std::string, int> guarantee_by_type;  // of these
  std::int64_t weight = 1;
  std::optional<int> borrow;  // slots; none = no limit, as of all that follow
  std::optional<int> lend;
  std::optional<int> priority_max;
  std::optional<int> job_slots_max;
  std::optional<Money> job_price_max;  // an hour
  std::optional<Duration> job_grace_max;
  std::optional<Duration> job_hold_max;
  std::optional<int> jobs_max;
  bool exclusive_nodes = false;
  std::optional<BudgetFields> budget;
  std::optional<Duration> notice_extension;
  std::optional<Duration> notice_refusal;
  Duration preempt_after;
  nlohmann::json defaults = nlohmann::json::object();  // a part of a job file, checked (job_defaults.hpp)
};

struct ChurnFields {
  std::optional<int> per_job;
  std::optional<int> pool;
  Duration window = Duration::seconds(3600);
};

struct TenantTreeV1 {
  std::vector<TenantFields> tenants;  // each after its parent; empty = the pool is not shared by rule
  Duration half_life = Duration::seconds(std::int64_t{24} * 3600);
  Duration rebalance_every = Duration::seconds(300);
  Duration preempt_after;
  std::optional<ChurnFields> churn;
};

// Reads {half_life, rebalance_every, preempt_after, churn, tenants: [{name, guarantee, ..., tenants: [...]}]}; on
// failure every finding with its JSON pointer: unknown fields, wrong types, names twice, guarantees that do not add up.
struct TenantTreeFindings {
  std::vector<FieldError> errors;  // empty = tree is good
  TenantTreeV1 tree;
};
[[nodiscard]] TenantTreeFindings read_tenant_tree(const nlohmann::json& document);
// Reads {tenants: [...]}: those that are to lie below the tenant `above`.
[[nodiscard]] TenantTreeFindings read_tenants_below(const nlohmann::json& document, const std::string& above);

}  // namespace tidepool::api::v1
