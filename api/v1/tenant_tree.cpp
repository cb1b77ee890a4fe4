#include "api/v1/tenant_tree.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/v1/job_defaults.hpp"
#include "api/v1/job_spec.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;

constexpr std::size_t kDepthMost = 8;
constexpr std::size_t kTenantsMost = 10'000;
constexpr std::size_t kNameMost = 63;
constexpr std::int64_t kSlotsMost = 10'000'000;
constexpr std::int64_t kJobsMost = 10'000'000;
constexpr std::int64_t kWeightMost = 1'000'000;
constexpr std::int64_t kPriorityMost = 1'000;                         // of a job
constexpr Money kMoneyMost = Money::micros(100'000'000'000'000'000);  // ten times it can be counted
constexpr std::size_t kThresholdsMost = 16;
constexpr std::int64_t kPercentMost = 1'000;
constexpr Duration kExtensionMost = Duration::seconds(std::int64_t{24} * 3600);
constexpr Duration kRefusalMost = Duration::seconds(std::int64_t{24} * 3600);
constexpr Duration kPreemptAfterMost = Duration::seconds(std::int64_t{24} * 3600);
constexpr Duration kChurnWindowMost = Duration::seconds(std::int64_t{24} * 3600);
constexpr std::int64_t kChurnPerJobMost = 100;
constexpr std::int64_t kChurnOfPoolMost = 1000;

// As job files write a tenant.
bool is_name(const std::string& text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= kNameMost && std::all_of(text.begin(), text.end(), fits);
}

std::optional<int> optional_integer(ObjectReader& in, std::string_view field, ObjectReader::Range range) {
  if (!in.has(field)) return std::nullopt;
  return static_cast<int>(in.integer(field, range.low, range));
}

std::optional<Money> read_price(ObjectReader& in, std::string_view field) {
  const json& value = in.raw(field);
  if (value.is_null()) return std::nullopt;
  const auto price = parse_money(amount_text(value));
  if (!price.ok()) {
    in.fail(field, "Invalid", "is no amount of money: " + price.error().message);
    return std::nullopt;
  }
  if (*price <= Money()) in.fail(field, "OutOfRange", "must be above 0; leave it out for no limit");
  if (*price > kMoneyMost) in.fail(field, "OutOfRange", "must be at most " + to_text(kMoneyMost));
  return *price;
}

Duration read_duration(ObjectReader& in, std::string_view field, Duration fallback) {
  const json& value = in.raw(field);
  if (value.is_null()) return fallback;
  if (!value.is_string()) {
    in.fail(field, "WrongType", "must be a duration with a unit, such as \"5m\" or \"24h\"");
    return fallback;
  }
  const auto duration = parse_duration(value.get<std::string>());
  if (!duration.ok()) {
    in.fail(field, "Invalid", "is no duration: " + duration.error().message);
    return fallback;
  }
  if (*duration <= Duration()) in.fail(field, "OutOfRange", "must be above 0");
  return *duration;
}

// 0s up to the most.
std::optional<Duration> read_up_to(ObjectReader& in, std::string_view field, Duration most, const std::string& hint) {
  const json& value = in.raw(field);
  if (value.is_null()) return std::nullopt;
  const auto duration = parse_duration(value.is_string() ? value.get<std::string>() : std::string());
  if (!duration.ok()) {
    in.fail(field, value.is_string() ? "Invalid" : "WrongType", "must be a duration with a unit, such as \"2m\"");
    return std::nullopt;
  }
  const bool fits = *duration >= Duration() && *duration <= most;
  if (!fits) in.fail(field, "OutOfRange", "must be from 0s to " + to_text(most) + hint);
  return *duration;
}

void check_one_of(ObjectReader& in, std::string_view field, const std::string& word,
                  const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return;
  std::string list;
  for (const std::string& each : words) list += (list.empty() ? "" : ", ") + each;
  in.fail(field, "Invalid", "must be one of " + list);
}

std::vector<BudgetFields::Threshold> read_thresholds(const json& list, ObjectReader& budget,
                                                     std::vector<FieldError>& errors) {
  std::vector<BudgetFields::Threshold> thresholds;
  if (!list.is_array() || list.empty() || list.size() > kThresholdsMost) {
    budget.fail("thresholds", "WrongType", "must be a list of 1 to 16, such as [{percent: 100, action: pause}]");
    return thresholds;
  }
  int before = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    ObjectReader in(list[i], budget.pointer_of("thresholds") + "/" + std::to_string(i), errors);
    const auto percent = static_cast<int>(in.required_integer("percent", {.low = 1, .high = kPercentMost}));
    const std::string action = in.required_text("action");
    in.finish();
    if (!action.empty()) check_one_of(in, "action", action, {"warn", "shrink", "pause", "stop"});
    if (percent > 0 && percent <= before) in.fail("percent", "Invalid", "must be above that of the one before");
    before = std::max(before, percent);
    thresholds.push_back({percent, action});
  }
  return thresholds;
}

std::optional<BudgetFields> read_budget(const json& value, const std::string& pointer,
                                        std::vector<FieldError>& errors) {
  if (value.is_null()) return std::nullopt;
  ObjectReader in(value, pointer, errors);
  BudgetFields budget;
  if (!value.is_object()) return budget;
  const auto limit = read_price(in, "limit");
  if (!in.has("limit")) in.fail("limit", "Missing", "is needed: what may be spent in a window, such as 500.00");
  budget.limit = limit.value_or(Money::micros(1));
  budget.window = in.text("window", budget.window);
  check_one_of(in, "window", budget.window, {"day", "week", "month"});
  const json thresholds = in.raw("thresholds");
  if (!thresholds.is_null()) budget.thresholds = read_thresholds(thresholds, in, errors);
  in.finish();
  return budget;
}

std::optional<ChurnFields> read_churn(const json& value, const std::string& pointer, std::vector<FieldError>& errors) {
  if (value.is_null()) return std::nullopt;
  ObjectReader in(value, pointer, errors);
  ChurnFields churn;
  if (!value.is_object()) return churn;
  churn.per_job = optional_integer(in, "per_job", {.low = 1, .high = kChurnPerJobMost});
  churn.pool = optional_integer(in, "pool", {.low = 1, .high = kChurnOfPoolMost});
  churn.window = read_duration(in, "window", churn.window);
  if (churn.window > kChurnWindowMost) in.fail("window", "OutOfRange", "must be at most 24h");
  if (!in.has("per_job") && !in.has("pool")) {
    in.fail("per_job", "Missing", "is needed, or pool: how many preemptions there may be in a window");
  }
  in.finish();
  return churn;
}

// Such as {a100: 4, v100: 2}.
std::map<std::string, int> read_by_type(ObjectReader& in, std::string_view field) {
  std::map<std::string, int> slots;
  const json& value = in.raw(field);
  if (value.is_null()) return slots;
  if (!value.is_object()) {
    in.fail(field, "WrongType", "must name types of slots, each with a number of them, such as {a100: 4}");
    return slots;
  }
  for (const auto& [type, count] : value.items()) {
    const bool is_count =
        count.is_number_integer() && count.get<std::int64_t>() >= 0 && count.get<std::int64_t>() <= kSlotsMost;
    if (type.empty() || !is_count) {
      in.fail(field, "Invalid", "gives type \"" + type + "\" something else than a number of slots, 0 or more");
      continue;
    }
    slots[type] = static_cast<int>(count.get<std::int64_t>());
  }
  return slots;
}

class TreeReading {
 public:
  explicit TreeReading(TenantTreeFindings& findings) : findings_(findings) {}

  // Slots that tenants are guaranteed together.
  struct Promised {
    std::int64_t slots = 0;
    std::map<std::string, std::int64_t> by_type = {};
  };

  // What stands below a tenant, or below the pool.
  Promised read_level(const json& list, const std::string& pointer, const std::string& parent, std::size_t depth) {
    Promised promised;
    if (!list.is_array()) {
      fail(pointer, "WrongType", "tenants must be a list such as [{name: vision, guarantee: 4}]");
      return promised;
    }
    if (depth > kDepthMost && !list.empty()) {
      fail(pointer, "OutOfRange", "tenants are nested deeper than " + std::to_string(kDepthMost) + " levels");
      return promised;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const TenantFields tenant = read_tenant(list[i], pointer + "/" + std::to_string(i), parent, depth);
      promised.slots += tenant.guarantee;
      for (const auto& [type, slots] : tenant.guarantee_by_type) promised.by_type[type] += slots;
    }
    return promised;
  }

 private:
  void fail(const std::string& pointer, std::string code, std::string message) {
    findings_.errors.push_back({pointer, std::move(code), std::move(message)});
  }

  TenantFields read_tenant(const json& value, const std::string& pointer, const std::string& parent,
                           std::size_t depth) {
    ObjectReader in(value, pointer, findings_.errors);
    if (!value.is_object()) {
      if (value.is_null()) fail(pointer, "WrongType", "must be an object with named fields");
      return {};
    }
    const std::size_t errors_before = findings_.errors.size();
    TenantFields tenant = read_fields(in, parent);
    const json budget = in.raw("budget");
    const json defaults = in.raw("defaults");
    const json below = in.raw("tenants");
    if (value.contains("parent")) refuse_parent(in);
    in.finish();
    const bool is_told = is_guarantee_told(in, errors_before);
    tenant.budget = read_budget(budget, in.pointer_of("budget"), findings_.errors);
    tenant.defaults = read_job_defaults(defaults, in.pointer_of("defaults"), findings_.errors);
    check_name(in, tenant.name, pointer);
    findings_.tree.tenants.push_back(tenant);
    if (is_told) check_by_type(in, tenant);
    if (!below.is_null()) {
      const Promised promised = read_level(below, pointer + "/tenants", tenant.name, depth + 1);
      if (is_told) check_promised(in, tenant, promised);
    }
    return tenant;
  }

  // It stands so in the flat list that the API gives.
  static void refuse_parent(ObjectReader& in) {
    (void)in.raw("parent");
    in.fail("parent", "UnknownField",
            "is not a field here; write a tenant that lies below another in that one's list tenants, such as "
            "{name: lab, tenants: [{name: vision}]}");
  }

  // Else what is compared with it is not what is meant: it is wrong, or misspelt.
  [[nodiscard]] bool is_guarantee_told(const ObjectReader& in, std::size_t errors_before) const {
    const auto first = findings_.errors.begin() + static_cast<std::ptrdiff_t>(errors_before);
    return std::none_of(first, findings_.errors.end(), [&](const FieldError& error) {
      return error.code == "UnknownField" || error.pointer == in.pointer_of("guarantee") ||
             error.pointer == in.pointer_of("guarantee_by_type");
    });
  }

  static void check_by_type(ObjectReader& in, const TenantFields& tenant) {
    std::int64_t together = 0;
    for (const auto& [type, slots] : tenant.guarantee_by_type) together += slots;
    if (together <= tenant.guarantee) return;
    in.fail("guarantee_by_type", "Invalid",
            "gives " + std::to_string(together) + " slots, of a guarantee of " + std::to_string(tenant.guarantee) +
                "; raise the guarantee or lower these");
  }

  static void check_promised(ObjectReader& in, const TenantFields& tenant, const Promised& below) {
    const std::string mend = " slots together; raise it or lower theirs";
    if (below.slots > tenant.guarantee) {
      in.fail("guarantee", "Invalid",
              "is " + std::to_string(tenant.guarantee) + ", but the tenants below are guaranteed " +
                  std::to_string(below.slots) + mend);
    }
    for (const auto& [type, slots] : below.by_type) {
      const auto own = tenant.guarantee_by_type.find(type);
      const int has = own == tenant.guarantee_by_type.end() ? 0 : own->second;
      if (slots <= has) continue;
      in.fail("guarantee_by_type", "Invalid",
              "has " + std::to_string(has) + " of type " + type + ", but the tenants below are guaranteed " +
                  std::to_string(slots) + mend);
    }
  }

  static TenantFields read_fields(ObjectReader& in, const std::string& parent) {
    TenantFields tenant;
    tenant.name = in.required_text("name");
    tenant.parent = parent;
    tenant.guarantee = static_cast<int>(in.integer("guarantee", 0, {.low = 0, .high = kSlotsMost}));
    tenant.guarantee_by_type = read_by_type(in, "guarantee_by_type");
    tenant.weight = in.integer("weight", 1, {.low = 0, .high = kWeightMost});
    tenant.borrow = optional_integer(in, "borrow", {.low = 0, .high = kSlotsMost});
    tenant.lend = optional_integer(in, "lend", {.low = 0, .high = kSlotsMost});
    tenant.priority_max = optional_integer(in, "priority_max", {.low = -kPriorityMost, .high = kPriorityMost});
    tenant.job_slots_max = optional_integer(in, "job_slots_max", {.low = 1, .high = kSlotsMost});
    tenant.job_price_max = read_price(in, "job_price_max");
    tenant.job_grace_max = read_up_to(in, "job_grace_max", kGraceMost, "; leave it out for no limit of its own");
    tenant.job_hold_max = read_up_to(in, "job_hold_max", kHoldMost, "; leave it out for no limit of its own");
    tenant.jobs_max = optional_integer(in, "jobs_max", {.low = 1, .high = kJobsMost});
    tenant.exclusive_nodes = in.boolean("exclusive_nodes", false);
    tenant.notice_extension =
        read_up_to(in, "notice_extension", kExtensionMost, "; leave it out for no limit of its own");
    tenant.notice_refusal = read_up_to(in, "notice_refusal", kRefusalMost, "; leave it out for no limit of its own");
    tenant.preempt_after = read_up_to(in, "preempt_after", kPreemptAfterMost, "").value_or(Duration());
    return tenant;
  }

  void check_name(ObjectReader& in, const std::string& name, const std::string& pointer) {
    if (name.empty()) {
      if (in.has("name") && in.raw("name").is_string()) in.fail("name", "Invalid", "must not be empty");
      return;
    }
    if (!is_name(name)) in.fail("name", "Invalid", "must be 1 to 63 of a-z, 0-9 and -, as job files write a tenant");
    const auto [first, is_new] = places_.emplace(name, pointer);
    if (!is_new) {
      in.fail("name", "Invalid",
              "is \"" + name + "\", which " + first->second + " has too; a name stands once in the tree");
    }
  }

  TenantTreeFindings& findings_;
  std::map<std::string, std::string> places_;  // the pointer of each name
};

bool is_document(const json& document, TenantTreeFindings& findings) {
  if (document.is_object()) return true;
  findings.errors.push_back({"", "WrongType", "the tenants must be an object with the field tenants"});
  return false;
}

// The field `tenants`, after which the document has no other.
void read_tenants(ObjectReader& in, const std::string& above, TenantTreeFindings& findings) {
  const json tenants = in.raw("tenants");
  in.finish();
  if (tenants.is_null()) {
    const std::string none = above.empty() ? "[] to end sharing by tenants" : "[] to have none below " + above;
    return in.fail("tenants", "Missing", "is needed: the list of tenants, or " + none);
  }
  TreeReading(findings).read_level(tenants, "/tenants", above, 1);
  if (findings.tree.tenants.size() > kTenantsMost) {
    in.fail("tenants", "OutOfRange", "has more than " + std::to_string(kTenantsMost) + " tenants");
  }
}

}  // namespace

TenantTreeFindings read_tenant_tree(const json& document) {
  TenantTreeFindings findings;
  if (!is_document(document, findings)) return findings;
  ObjectReader in(document, "", findings.errors);
  findings.tree.half_life = read_duration(in, "half_life", findings.tree.half_life);
  findings.tree.rebalance_every = read_duration(in, "rebalance_every", findings.tree.rebalance_every);
  findings.tree.preempt_after = read_up_to(in, "preempt_after", kPreemptAfterMost, "").value_or(Duration());
  const json churn = in.raw("churn");
  findings.tree.churn = read_churn(churn, in.pointer_of("churn"), findings.errors);
  read_tenants(in, "", findings);
  return findings;
}

TenantTreeFindings read_tenants_below(const json& document, const std::string& above) {
  TenantTreeFindings findings;
  if (!is_document(document, findings)) return findings;
  ObjectReader in(document, "", findings.errors);
  read_tenants(in, above, findings);
  return findings;
}

}  // namespace tidepool::api::v1
