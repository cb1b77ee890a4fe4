#include "schedulerd/live/setup/pool_config.hpp"

#include <algorithm>
#include <set>

#include "base/byte_size.hpp"
#include "base/word_list.hpp"
#include "schedulerd/live/providers/provider_table.hpp"

namespace tidepool::live {
namespace {

constexpr std::int64_t kSlotsMax = 1024;
constexpr std::int64_t kNodesMax = 10'000;
constexpr std::int64_t kWorthPerPrice = 2;  // where the configuration says none

class PoolReader {
 public:
  PoolReader(const nlohmann::json& value, const std::string& where, std::vector<FieldError>& findings)
      : in_(value, where, findings) {}

  PoolConfig read() {
    PoolConfig pool;
    pool.name = in_.required_text("name");
    const bool plain = !pool.name.empty() && pool.name.size() <= 40 &&
                       std::all_of(pool.name.begin(), pool.name.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
    if (!plain) in_.fail("name", "Invalid", "must be 1 to 40 small letters, digits and \"-\"");
    provider(pool);
    pool.slot_type = in_.text("slot_type", "");
    pool.slots_per_node = static_cast<int>(in_.required_integer("slots_per_node", {.low = 1, .high = kSlotsMax}));
    pool.memory_per_slot = memory("memory_per_slot");
    pool.price_per_slot_hour = money("price_per_slot_hour", Money::micros(1'000'000));
    const Money worth = Money::micros(pool.price_per_slot_hour.count_micros() * kWorthPerPrice);
    pool.worth_per_slot_hour = money("worth_per_slot_hour", worth);
    if (pool.worth_per_slot_hour < pool.price_per_slot_hour) {
      in_.fail("worth_per_slot_hour", "OutOfRange",
               "must not be below price_per_slot_hour, or no node is ever worth it");
    }
    pool.max = static_cast<int>(in_.required_integer("max", {.low = 0, .high = kNodesMax}));
    pool.min = static_cast<int>(in_.integer("min", 0, {.low = 0, .high = kNodesMax}));
    if (pool.min > pool.max) in_.fail("min", "OutOfRange", "must not be above max");
    pool.idle = time("idle", pool.idle);
    pool.lead_time = time("lead_time", pool.lead_time);
    pool.spot = in_.boolean("spot", false);
    pool.timeout = time("timeout", pool.timeout);
    pool.list_every = time("list_every", pool.list_every);
    in_.finish();
    return pool;
  }

 private:
  void provider(PoolConfig& pool) {
    pool.provider = in_.required_text("provider");
    const ProviderKind* kind = provider_kind(pool.provider);
    if (kind == nullptr) {
      in_.fail("provider", "Invalid",
               "is \"" + pool.provider + "\" (there are: " + word_list(provider_names()) +
                   "); nodes that join on their own need no pool");
    }
    if (in_.has("command")) {
      const nlohmann::json& command = in_.raw("command");
      const bool is_list = command.is_array() && !command.empty() &&
                           std::all_of(command.begin(), command.end(), [](const auto& any) { return any.is_string(); });
      if (is_list) {
        pool.command = command.get<std::vector<std::string>>();
      } else {
        in_.fail("command", "WrongType", "must be a list of texts: a program and its arguments");
      }
    }
    if (in_.has("settings")) {
      pool.settings = in_.raw("settings");
      if (!pool.settings.is_object()) in_.fail("settings", "WrongType", "must be an object");
    }
    if (kind != nullptr) kind->check({.command = pool.command, .settings = pool.settings}, in_);
  }

  Money money(const char* name, Money fallback) {
    if (!in_.has(name)) return fallback;
    if (!in_.raw(name).is_string()) {
      in_.fail(name, "WrongType", "must be a text, such as \"1.00\" with the quotes");
      return fallback;
    }
    const auto read = parse_price(in_.text(name, ""));
    if (read.ok()) return *read;
    in_.fail(name, "Invalid", read.error().message + "; write it as a text such as \"1.00\"");
    return fallback;
  }

  std::optional<std::int64_t> memory(const char* name) {
    if (!in_.has(name)) return std::nullopt;
    const auto read = parse_byte_size(in_.text(name, ""));
    if (!read.ok()) in_.fail(name, "Invalid", "is wrong: " + read.error().message);
    return read.ok() ? std::optional(*read) : std::nullopt;
  }

  Duration time(const char* name, Duration fallback) {
    if (!in_.has(name)) return fallback;
    const auto read = parse_duration(in_.text(name, ""));
    if (read.ok() && *read > Duration()) return *read;
    in_.fail(name, "Invalid", read.ok() ? "must be above zero" : read.error().message);
    return fallback;
  }

  ObjectReader in_;
};

}  // namespace

PoolsConfig read_pools(const nlohmann::json& value, std::vector<FieldError>& findings) {
  PoolsConfig config;
  ObjectReader in(value, "/pools", findings);
  config.spot_share = in.number("spot_share", 1, 0, 1);
  const nlohmann::json list = in.has("list") ? in.raw("list") : nlohmann::json::array();
  if (!list.is_array()) in.fail("list", "WrongType", "must be a list of pools");
  std::set<std::string> names;
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    const std::string where = "/pools/list/" + std::to_string(i);
    config.pools.push_back(PoolReader(list[i], where, findings).read());
    const std::string& name = config.pools.back().name;
    if (!names.insert(name).second) findings.push_back({where + "/name", "Invalid", "two pools are called " + name});
  }
  in.finish();
  return config;
}

}  // namespace tidepool::live
