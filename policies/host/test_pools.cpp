#include "policies/host/test_pools.hpp"

#include <algorithm>

#include "policies/host/test_time.hpp"

namespace tidepool::policies::host {
namespace {

using nlohmann::json;

constexpr int kPoolNodesMax = 100'000;
constexpr int kNodeSlotsMax = 1'024;  // of a node
constexpr double kPriceMax = 1e15;

int count_in(ObjectReader& in, const char* name, int usual) {
  return static_cast<int>(in.integer(name, usual, {.low = 0, .high = kPoolNodesMax}));
}

cluster::PoolRow read_pool(ObjectReader& in) {
  cluster::PoolRow row{
      .name = in.required_text("name"), .lead = {}, .idle_after = {}, .idle_longest = {}, .backoff = {}};
  row.slot_type = in.text("type", "");
  row.slots = static_cast<int>(in.integer("slots", 4, {.low = 1, .high = kNodeSlotsMax}));
  row.price_per_hour = in.number("price", 0, 0, kPriceMax);
  row.worth_per_hour = in.number("worth", row.price_per_hour, 0, kPriceMax);
  row.nodes = count_in(in, "nodes", 0);
  row.min = count_in(in, "min", 0);
  row.max = count_in(in, "max", std::max(row.min, row.nodes));
  row.spot = in.boolean("spot", false);
  row.lead = read_time(in, "lead", "3m");
  row.idle_after = read_time(in, "idle_after", "10m");
  row.coming = count_in(in, "coming", 0);
  row.leaving = count_in(in, "leaving", 0);
  row.idle = count_in(in, "idle", 0);
  row.idle_longest = read_time(in, "idle_longest", "0s");
  row.backoff = read_time(in, "backoff", "0s");
  row.backlog_jobs = count_in(in, "backlog_jobs", 0);
  row.backlog_slots = count_in(in, "backlog_slots", 0);
  row.more_worth = in.number("more_worth", 0, 0, kPriceMax);
  row.standard = count_in(in, "standard", row.nodes);
  if (row.max < row.min) in.fail("max", "OutOfRange", "must not be below min");
  if (row.coming + row.idle > row.nodes) {
    in.fail("nodes", "OutOfRange", "must be as many as coming and idle together, at least: those are among them");
  }
  return row;
}

}  // namespace

std::vector<cluster::PoolRow> read_pools(const json& list, const std::string& pointer,
                                         std::vector<FieldError>& errors) {
  std::vector<cluster::PoolRow> rows;
  if (list.is_null()) return rows;
  if (!list.is_array() || list.empty()) {
    errors.push_back({pointer, "WrongType", "pools must be a list with at least one, such as [{name: gpu, max: 4}]"});
    return rows;
  }
  for (const json& entry : list) {
    ObjectReader in(entry, pointer + "/" + std::to_string(rows.size()), errors);
    rows.push_back(read_pool(in));
    in.finish();
  }
  std::sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) { return one.name < other.name; });
  const auto twice = std::adjacent_find(rows.begin(), rows.end(),
                                        [](const auto& one, const auto& other) { return one.name == other.name; });
  if (twice != rows.end()) {
    errors.push_back({pointer, "Invalid", "pools has two called \"" + twice->name + "\"; give each its own name"});
  }
  return rows;
}

}  // namespace tidepool::policies::host
