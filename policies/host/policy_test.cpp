#include "policies/host/policy_test.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/number_text.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/host/test_pools.hpp"
#include "policies/host/test_tenants.hpp"
#include "policies/host/test_time.hpp"

namespace tidepool::policies::host {
namespace {

using nlohmann::json;

constexpr int kSizeMax = 100'000;
constexpr std::int64_t kStepsOfTest = 10'000'000;  // of the default policy
constexpr double kLargest = 1e15;

// A size from 1 that is the name of an entry of a table.
std::optional<int> size_named(const std::string& text) {
  const auto size = parse_number<int>(text);
  return size && *size > 0 ? size : std::nullopt;
}

std::map<int, double> read_goodput(ObjectReader& in, int size_max) {
  const json& table = in.raw("goodput");
  const double power = in.number("scaling", 0.9, 0, 1);
  std::map<int, double> goodput;
  if (table.is_object()) {
    for (const auto& [text, value] : table.items()) {
      const auto size = size_named(text);
      if (!size || !value.is_number() || value.get<double>() < 0) {
        in.fail("goodput", "Invalid", "must be a table of sizes and speeds, such as {1: 1, 2: 1.8}");
        continue;
      }
      goodput[*size] = value.get<double>();
    }
  } else if (!table.is_null()) {
    in.fail("goodput", "WrongType", "must be a table of sizes and speeds, such as {1: 1, 2: 1.8}");
  }
  for (int size = 1; goodput.empty() || size <= size_max; size *= 2) {
    if (table.is_object() && !goodput.empty()) break;
    goodput[size] = std::pow(size, power);
  }
  return goodput;
}

constexpr const char* kCostsForm =
    "must be a table of sizes that are powers of two and times, such as {16: {grow: 2m, boot: 40s}}";

// What changes to some sizes take; a kind that is left out takes as long as at any other size.
std::vector<cluster::SizeCosts> read_costs(ObjectReader& in, Duration usual, std::vector<FieldError>& errors) {
  const json& table = in.raw("costs");
  if (!table.is_object() && !table.is_null()) in.fail("costs", "WrongType", kCostsForm);
  std::map<int, cluster::TransitionCosts> by_size;
  const json entries = table.is_object() ? table : json::object();
  for (const auto& [text, value] : entries.items()) {
    const auto size = size_named(text);
    if (!size || !std::has_single_bit(static_cast<unsigned>(*size))) {
      in.fail("costs", "Invalid", kCostsForm);
      continue;
    }
    ObjectReader of_size(value, in.pointer_of("costs") + "/" + text, errors);
    const auto time = [&](const char* name) { return of_size.has(name) ? read_time(of_size, name, "0s") : usual; };
    by_size[*size] = {.grow = time("grow"),
                      .shrink = time("shrink"),
                      .move = time("move"),
                      .start = time("start"),
                      .boot = read_time(of_size, "boot", "0s"),
                      .resume = {}};
    of_size.finish();
  }
  std::vector<cluster::SizeCosts> costs;
  costs.reserve(by_size.size());
  for (const auto& [size, each] : by_size) costs.push_back({.workers = size, .costs = each});
  return costs;
}

// A list of names, such as [h100, a100].
std::vector<std::string> read_names(ObjectReader& in, const char* name) {
  const json& list = in.raw(name);
  std::vector<std::string> names;
  bool right = list.is_null() || list.is_array();
  for (const json& entry : list.is_array() ? list : json::array()) {
    right = right && entry.is_string() && !entry.get<std::string>().empty();
    if (right) names.push_back(entry.get<std::string>());
  }
  if (!right) in.fail(name, "WrongType", "must be a list of names, such as [h100, a100]");
  return names;
}

// What a slot of each type costs an hour.
std::map<std::string, double> read_prices(ObjectReader& in, const std::vector<std::string>& types) {
  const json& table = in.raw("prices");
  std::map<std::string, double> prices;
  if (table.is_null()) return prices;
  if (!table.is_object()) {
    in.fail("prices", "WrongType", "must be a table of slot types and prices, such as {h100: 4, a100: 2.5}");
    return prices;
  }
  for (const auto& [type, price] : table.items()) {
    if (std::find(types.begin(), types.end(), type) == types.end()) {
      in.fail("prices", "Invalid", "names the slot type \"" + type + "\", which is not among the types of the cluster");
    } else if (!price.is_number() || price.get<double>() < 0) {
      in.fail("prices", "Invalid", "must be numbers that are not below 0");
    } else {
      prices[type] = price.get<double>();
    }
  }
  return prices;
}

// Fills nodes in order; a test that needs another placement needs another cluster.
cluster::Placement place(int size, const std::vector<cluster::NodeRow>& nodes, std::vector<int>& used) {
  cluster::Placement placement;
  for (std::size_t node = 0; node < nodes.size() && size > 0; ++node) {
    const int slots = std::min(size, nodes[node].slots - used[node]);
    if (slots <= 0) continue;
    placement.push_back({.node = static_cast<int>(node), .slots = slots});
    used[node] += slots;
    size -= slots;
  }
  return placement;
}

// What takes values of a table by their names; false = one is of the wrong type.
auto integers_into(std::map<std::string, int>& into) {
  return [&into](const std::string& name, const json& number) {
    if (number.is_number_integer()) into[name] = number.get<int>();
    return number.is_number_integer();
  };
}

// `false` leaves it to the rule.
auto integers_or_false_into(std::map<std::string, std::optional<int>>& into) {
  return [&into](const std::string& name, const json& number) {
    const bool by_rule = number.is_boolean() && !number.get<bool>();
    if (number.is_number_integer()) into[name] = number.get<int>();
    if (by_rule) into[name] = std::nullopt;
    return by_rule || number.is_number_integer();
  };
}

auto codes_into(std::map<std::string, std::string>& into) {
  return [&into](const std::string& name, const json& code) {
    if (code.is_string()) into[name] = code.get<std::string>();
    return code.is_string();
  };
}

class TestReader {
 public:
  TestReader(const json& value, std::string pointer, std::vector<FieldError>& errors)
      : value_(value), pointer_(std::move(pointer)), errors_(errors) {}

  PolicyTest read() {
    ObjectReader in(value_, pointer_, errors_);
    test_.name = in.required_text("name");
    if (const json& params = in.raw("params"); params.is_object()) {
      test_.params = params;
    } else if (!params.is_null()) {
      in.fail("params", "WrongType", "must be a table of names and values, such as {most: 2}");
    }
    read_cluster(in.raw("cluster"), in.pointer_of("cluster"));
    const json& jobs = in.raw("jobs");
    const bool needs_jobs = test_.view.pools.empty();
    if ((!jobs.is_array() && !jobs.is_null()) || (needs_jobs && jobs.empty())) {
      in.fail("jobs", "Missing", "must be a list with at least one job; only a cluster with pools may have none");
    }
    for (const json& job : jobs.is_array() ? jobs : json::array()) {
      read_job(job, in.pointer_of("jobs") + "/" + std::to_string(test_.jobs.size()));
    }
    if (const auto job = add_jobs_to_tenants(test_.view)) {
      errors_.push_back({in.pointer_of("jobs") + "/" + std::to_string(*job) + "/tenant", "Invalid",
                         "tenant is \"" + test_.view.jobs[*job].tenant +
                             "\"; where the cluster has tenants each job is of one that has none below it"});
    }
    read_expectation(in.raw("expect"), in.pointer_of("expect"));
    in.finish();
    return std::move(test_);
  }

 private:
  void read_cluster(const json& value, const std::string& pointer) {
    const json given = value.is_null() ? json::object() : value;
    ObjectReader in(given, pointer, errors_);
    test_.view.pools = read_pools(in.raw("pools"), in.pointer_of("pools"), errors_);
    const auto nodes = in.integer("nodes", 2, {.low = test_.view.pools.empty() ? 1 : 0, .high = 10'000});
    const auto slots = static_cast<int>(in.integer("slots_per_node", 4, {.low = 1, .high = 1'024}));
    test_.view.now = Instant() + read_time(in, "now", "1h");
    const auto types = read_names(in, "types");
    const auto prices = read_prices(in, types);
    test_.view.tenants = read_tenants(in.raw("tenants"), in.pointer_of("tenants"), errors_);
    in.finish();
    for (std::int64_t i = 1; i <= nodes; ++i) {
      cluster::NodeRow& node = test_.view.nodes.emplace_back();
      node.id = NodeId(static_cast<std::uint64_t>(i));
      node.slots = slots;
      // One type for all nodes, or one for each, in order; the last one holds for the rest.
      if (!types.empty()) node.slot_type = types[std::min(static_cast<std::size_t>(i) - 1, types.size() - 1)];
      const auto price = prices.find(node.slot_type);
      if (price != prices.end()) node.price_per_hour = price->second;
    }
    used_.resize(test_.view.nodes.size());
  }

  void read_job(const json& value, const std::string& pointer) {
    ObjectReader in(value, pointer, errors_);
    cluster::JobRow row;
    std::string name = in.required_text("name");
    if (std::find(test_.jobs.begin(), test_.jobs.end(), name) != test_.jobs.end()) {
      in.fail("name", "Invalid", "is also that of another job; give each job its own");
    }
    test_.jobs.push_back(std::move(name));
    row.id = JobId(test_.jobs.size());
    read_wishes(in, row);
    read_slots_held(in, row);
    read_work(in, row);
    in.finish();
    test_.view.jobs.push_back(std::move(row));
  }

  void read_wishes(ObjectReader& in, cluster::JobRow& row) const {
    row.submitted = Instant() + read_time(in, "submitted", "0s");
    row.tenant = in.text("tenant", "default");
    row.types_asked = read_names(in, "types_asked");
    if (!row.types_asked.empty()) row.nodes = nodes_of(row.types_asked);
    row.weight = in.number("weight", 1, 0, kLargest);
    row.size_wanted = static_cast<int>(in.integer("wanted", 1, {.low = 1, .high = kSizeMax}));
    row.size_max = static_cast<int>(in.integer("max", row.size_wanted, {.low = row.size_wanted, .high = kSizeMax}));
    row.size_min = static_cast<int>(in.integer("min", 1, {.low = 1, .high = row.size_max}));
    row.priority = static_cast<int>(in.integer("priority", 0, {.low = -kSizeMax, .high = kSizeMax}));
    row.preemptible = in.boolean("preemptible", true);
    row.resize_blocked = in.boolean("resize_blocked", false);
    row.pinned = static_cast<int>(in.integer("pinned", 0, {.low = 0, .high = kSizeMax}));
    if (in.has("deadline")) row.deadline = Instant() + read_time(in, "deadline", "0s");
  }

  void read_slots_held(ObjectReader& in, cluster::JobRow& row) {
    const auto holds = static_cast<int>(in.integer("holds", 0, {.low = 0, .high = kSizeMax}));
    row.placement = place(holds, test_.view.nodes, used_);
    if (size_of(row.placement) < holds) {
      in.fail("holds", "OutOfRange",
              "is " + std::to_string(holds) + ", and the cluster has only " + std::to_string(size_of(row.placement)) +
                  " slots left for it");
    }
    row.held = read_time(in, "held", "0s");
    row.slot_seconds = in.number("slot_seconds", row.held.to_seconds() * size_of(row.placement), 0, kLargest);
    row.largest_seen =
        static_cast<int>(in.integer("largest_seen", size_of(row.placement), {.low = 0, .high = kSizeMax}));
    row.resizes = static_cast<int>(in.integer("resizes", 0, {.low = 0, .high = kSizeMax}));
    row.mark.level = static_cast<int>(in.integer("marked", 0, {.low = 0, .high = 1'000'000}));
    row.mark.since = Instant() + read_time(in, "marked_since", "0s");
  }

  // What is left to do, how fast it is done at each size, and what changes take.
  void read_work(ObjectReader& in, cluster::JobRow& row) {
    if (in.has("steps_left")) row.steps_left = in.number("steps_left", 0, 0, kLargest);
    if (in.has("useful_left")) row.useful_left = in.number("useful_left", 0, 0, kLargest);
    row.transition = read_time(in, "transition", "30s");
    row.costs_by_size = read_costs(in, row.transition, errors_);
    row.speed = test_.speeds.emplace_back(std::make_unique<StatedSpeed>(read_goodput(in, row.size_max))).get();
  }

  [[nodiscard]] std::vector<int> nodes_of(const std::vector<std::string>& types) const {
    std::vector<int> nodes;
    for (std::size_t node = 0; node < test_.view.nodes.size(); ++node) {
      const bool is_one = std::find(types.begin(), types.end(), test_.view.nodes[node].slot_type) != types.end();
      if (is_one) nodes.push_back(static_cast<int>(node));
    }
    return nodes;
  }

  // A table of names and values that `take` reads; false from it = the wrong type. `kind`: "job", "tenant" or "pool".
  template <class Take>
  void each_of(ObjectReader& in, const char* name, const std::string& kind, Take take) {
    const json& table = in.raw(name);
    if (table.is_null()) return;
    bool right = table.is_object();
    const json entries = right ? table : json::object();
    for (const auto& [row, value] : entries.items()) {
      if (!is_there(kind, row)) {
        std::string why = "names the ";
        in.fail(name, "Invalid", why.append(kind).append(" \"").append(row).append("\", which the test has not"));
      }
      right = right && take(row, value);
    }
    if (!right) in.fail(name, "WrongType", "must be a table of " + kind + " names and values, such as {a: 4}");
  }

  [[nodiscard]] bool is_there(const std::string& kind, const std::string& name) const {
    if (kind == "job") return std::find(test_.jobs.begin(), test_.jobs.end(), name) != test_.jobs.end();
    const auto any_called = [&](const auto& rows) {
      return std::any_of(rows.begin(), rows.end(), [&](const auto& any) { return any.name == name; });
    };
    return kind == "pool" ? any_called(test_.view.pools) : any_called(test_.view.tenants);
  }

  void read_expectation(const json& value, const std::string& pointer) {
    ObjectReader in(value, pointer, errors_);
    Expectation& expect = test_.expect;
    each_of(in, "sizes", "job", integers_into(expect.sizes));
    each_of(in, "grants", "job", integers_into(expect.grants));
    if (!expect.grants.empty() && !test_.view.tenants.empty()) {
      in.fail("grants", "Invalid",
              "are worked out for a cluster without tenants only; expect what tenants may have: entitled");
    }
    each_of(in, "entitled", "tenant", integers_into(expect.entitled));
    each_of(in, "shares", "tenant", integers_or_false_into(expect.shares));
    each_of(in, "nodes", "pool", integers_or_false_into(expect.nodes));
    each_of(in, "admitted", "job", [&](const std::string& job, const json& flag) {
      if (flag.is_boolean()) expect.admitted[job] = flag.get<bool>();
      return flag.is_boolean();
    });
    each_of(in, "why", "job", codes_into(expect.why));
    each_of(in, "why_nodes", "pool", codes_into(expect.why_nodes));
    read_order(in);
    read_fault(in);
    if (value.is_null() || (value.is_object() && value.empty())) {
      errors_.push_back(
          {pointer, "Missing",
           "a test expects something: sizes, grants, shares, entitled, nodes, why_nodes, admitted, why, order or "
           "fault"});
    }
    in.finish();
  }

  void read_order(ObjectReader& in) {
    std::vector<std::string>& expected = test_.expect.order;
    const json& order = in.raw("order");
    if (!order.is_null() && !order.is_array()) in.fail("order", "WrongType", "must be a list of jobs, such as [a, b]");
    for (const json& job : order.is_array() ? order : json::array()) {
      expected.push_back(job.is_string() ? job.get<std::string>() : "");
      if (std::find(test_.jobs.begin(), test_.jobs.end(), expected.back()) == test_.jobs.end()) {
        in.fail("order", "Invalid", "names a job that the test has not");
      }
    }
  }

  void read_fault(ObjectReader& in) {
    std::string& fault = test_.expect.fault;
    fault = in.text("fault", "");
    if (!fault.empty() && !find_fault(fault)) {
      in.fail("fault", "Invalid", "is \"" + fault + "\", which is no fault; docs/policies.md lists them");
    }
  }

  const json& value_;
  std::string pointer_;
  std::vector<FieldError>& errors_;
  PolicyTest test_;
  std::vector<int> used_;  // by node
};

// What the default policy would do where the file has no hook.
cluster::Allocation standard_for_test(const PolicyTest& test, const Answers& answers) {
  core::StepBudget budget(kStepsOfTest);
  return standard_for(test.view, answers, *built_in_fallback(), budget);
}

// With the job as the test calls it.
std::string told_of(const PolicyFault& fault, const PolicyTest& test) {
  for (std::size_t row = 0; row < test.jobs.size(); ++row) {
    if (test.view.jobs[row].id == fault.job) return to_text(fault, test.jobs[row]);
  }
  return to_text(fault);
}

// Compares one round with what was expected.
class Comparison {
 public:
  Comparison(const PolicyTest& test, const Answers& answers)
      : test_(test), answers_(answers), allocation_(allocate(test.view, answers, standard_for_test(test, answers))) {}

  std::vector<std::string> run() {
    for (const auto& [job, size] : test_.expect.sizes) {
      if (answers_.sizes.empty()) {
        differ("the policy has no size hook");
        break;
      }
      equal("the size of " + job, answers_.sizes[row_of(job)], size);
    }
    for (const auto& [job, size] : test_.expect.grants) {
      equal("what " + job + " gets", allocation_.grants[row_of(job)].size, size);
    }
    compare_tenants();
    compare_pools();
    for (const auto& [job, admitted] : test_.expect.admitted) {
      const bool is = answers_.admitted.empty() || answers_.admitted[row_of(job)];
      if (is != admitted) differ(job + (is ? " was admitted" : " was not admitted"));
    }
    for (const auto& [job, code] : test_.expect.why) compare_word(job, answers_.why[row_of(job)].code, code);
    compare_order();
    return std::move(differences_);
  }

 private:
  [[nodiscard]] std::size_t row_of(const std::string& job) const {
    return static_cast<std::size_t>(std::find(test_.jobs.begin(), test_.jobs.end(), job) - test_.jobs.begin());
  }
  void differ(std::string what) { differences_.push_back(std::move(what)); }
  void equal(const std::string& what, int is, int expected) {
    if (is != expected) differ(what + " is " + std::to_string(is) + ", not " + std::to_string(expected));
  }

  void compare_word(const std::string& of, const std::string& said, const std::string& code) {
    if (said == code) return;
    std::string what = "the reason of ";
    what.append(of).append(" is \"").append(said).append("\", not ").append(code);
    differ(what);
  }

  // Of tenants or pools. Requires: there is one of the name.
  template <class Row>
  [[nodiscard]] static std::size_t place_of(const std::string& name, const std::vector<Row>& rows) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& any) { return any.name == name; });
    return static_cast<std::size_t>(row - rows.begin());
  }
  void compare_optional(const std::string& what, const std::optional<int>& is, const std::optional<int>& expected) {
    const auto shown = [](const std::optional<int>& number) { return number ? std::to_string(*number) : "false"; };
    if (is != expected) differ(what + " is " + shown(is) + ", not " + shown(expected));
  }

  void compare_tenants() {
    const auto& tenants = test_.view.tenants;
    for (const auto& [tenant, claim] : test_.expect.shares) {
      if (answers_.claims.empty()) return differ("the policy has no share hook");
      compare_optional("the share of " + tenant, answers_.claims[place_of(tenant, tenants)], claim);
    }
    if (test_.expect.entitled.empty()) return;
    const std::vector<int> slots = entitled(test_.view, answers_.claims);
    for (const auto& [tenant, expected] : test_.expect.entitled) {
      equal("what " + tenant + " is entitled to", slots[place_of(tenant, tenants)], expected);
    }
  }

  void compare_pools() {
    const auto& pools = test_.view.pools;
    const bool any = !test_.expect.nodes.empty() || !test_.expect.why_nodes.empty();
    if (any && answers_.nodes.empty()) return differ("the policy has no provision hook");
    for (const auto& [pool, nodes] : test_.expect.nodes) {
      compare_optional("the number of nodes of " + pool, answers_.nodes[place_of(pool, pools)], nodes);
    }
    for (const auto& [pool, code] : test_.expect.why_nodes) {
      compare_word(pool, answers_.why_nodes[place_of(pool, pools)].code, code);
    }
  }

  void compare_order() {
    if (test_.expect.order.empty()) return;
    std::string is;
    std::vector<std::string> named;
    for (const std::size_t row : allocation_.order) {
      const std::string& job = test_.jobs[row];
      if (std::find(test_.expect.order.begin(), test_.expect.order.end(), job) == test_.expect.order.end()) continue;
      named.push_back(job);
      is += (is.empty() ? "" : ", ") + job;
    }
    if (named != test_.expect.order) differ("the order is " + is);
  }

  const PolicyTest& test_;
  const Answers& answers_;
  cluster::Allocation allocation_;
  std::vector<std::string> differences_;
};

}  // namespace

double StatedSpeed::goodput(cluster::Shape shape) const {
  const auto above = goodput_.lower_bound(shape.size);
  if (above == goodput_.end()) return goodput_.rbegin()->second;
  if (above->first == shape.size || above == goodput_.begin()) return above->second;
  const auto below = std::prev(above);
  const double part = double(shape.size - below->first) / double(above->first - below->first);
  return below->second + part * (above->second - below->second);
}

void read_each_test(const json& value, std::vector<FieldError>& errors, const std::function<void(PolicyTest)>& take) {
  if (!value.is_array()) {
    errors.push_back({"", "WrongType", "a file of tests is a list; each test begins with \"- name:\""});
    return;
  }
  for (std::size_t i = 0; i < value.size(); ++i) take(TestReader(value[i], "/" + std::to_string(i), errors).read());
}

std::vector<PolicyTest> read_tests(const json& value, std::vector<FieldError>& errors) {
  std::vector<PolicyTest> tests;
  read_each_test(value, errors, [&](PolicyTest test) { tests.push_back(std::move(test)); });
  return tests;
}

std::vector<std::string> run_test(const PolicyTest& test, const Manifest& manifest, PolicyHost& host) {
  const auto params = choose_params(manifest, test.params);
  if (!params) return {params.error().message};
  if (!test.view.tenants.empty() && !manifest.shares()) {
    return {
        "the cluster has tenants, and policy.yaml does not list the hook share: under this policy the tree divides "
        "nothing; leave tenants out of the test, or write the hook"};
  }
  if (!test.view.pools.empty() && !manifest.provisions()) {
    return {
        "the cluster has pools, and policy.yaml does not list the hook provision: under this policy the built-in rule "
        "decides how many nodes they have; leave pools out of the test, or write the hook"};
  }
  const Judged judged = host.ask(test.view, *params);
  if (const auto* fault = std::get_if<PolicyFault>(&judged)) {
    if (fault->code == test.expect.fault) return {};
    return {told_of(*fault, test)};
  }
  if (!test.expect.fault.empty()) return {"the policy answered, and " + test.expect.fault + " was expected"};
  return Comparison(test, std::get<Answers>(judged)).run();
}

}  // namespace tidepool::policies::host
