#include "schedulerd/live/setup/pool_config.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/byte_size.hpp"
#include "base/word_list.hpp"

namespace tidepool::live {
namespace {

constexpr std::int64_t kSlotsMax = 1024;
constexpr std::int64_t kNodesMax = 10'000;
constexpr std::int64_t kWorthPerPrice = 2;  // where the configuration says none
const std::vector<std::string> kProviderNames = {"exec", "slurm"};

// An option of sbatch with which a pilot is not one job that is found again.
struct RefusedOption {
  std::string_view name;
  char letter;  // 0 = it has none
  const char* why;
};
constexpr const char* kNotSubmitted = "nothing is submitted with it";
constexpr std::array kRefusedOptions = {
    RefusedOption{"job-name", 'J', "a pilot is found again by the name that its job is given here"},
    RefusedOption{"clusters", 'M', "pilots are looked for in one cluster: set SLURM_CLUSTERS for the daemon instead"},
    RefusedOption{"uid", 0, "pilots are looked for among the jobs of the daemon's user"},
    RefusedOption{"array", 'a', "a node is one job, and these would be several of one name"},
    RefusedOption{"requeue", 0, "a pilot that Slurm starts again joins as a node that was taken for lost"},
    RefusedOption{"wait", 'W', "sbatch would not answer before the pilot has ended"},
    RefusedOption{"wrap", 0, "the job would not run what \"start\" says"},
    RefusedOption{"quiet", 'Q', "sbatch would not tell the job's number"},
    RefusedOption{"test-only", 0, kNotSubmitted},
    RefusedOption{"usage", 0, kNotSubmitted},
    RefusedOption{"help", 'h', kNotSubmitted},
    RefusedOption{"version", 'V', kNotSubmitted},
};

// Null: it may be given. sbatch takes the first letters of a long name for all of it.
const RefusedOption* refused_option(std::string_view option) {
  const bool is_long = option.starts_with("--");
  const std::string_view name = is_long ? option.substr(2, option.find('=') - 2) : "";
  if (option.size() < 2 || option.front() != '-' || (is_long && name.empty())) return nullptr;
  const auto* found = std::find_if(kRefusedOptions.begin(), kRefusedOptions.end(), [&](const RefusedOption& refused) {
    return is_long ? refused.name.starts_with(name) : refused.letter == option[1];
  });
  return found == kRefusedOptions.end() ? nullptr : found;
}

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
    if (std::find(kProviderNames.begin(), kProviderNames.end(), pool.provider) == kProviderNames.end()) {
      in_.fail("provider", "Invalid",
               "is \"" + pool.provider + "\" (there are: " + word_list(kProviderNames) +
                   "); nodes that come by themselves need no pool");
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
    } else if (pool.provider == "exec") {
      in_.fail("command", "Missing", "is needed: the program that the provider exec runs, as a list of texts");
    }
    if (in_.has("settings")) {
      pool.settings = in_.raw("settings");
      if (!pool.settings.is_object()) in_.fail("settings", "WrongType", "must be an object");
    }
    if (pool.provider == "slurm") slurm(pool);
  }

  void slurm(const PoolConfig& pool) {
    if (!pool.command.empty()) in_.fail("command", "Invalid", "goes with the provider exec");
    if (!pool.settings.is_object()) return;
    for (const char* name : {"start", "walltime"}) {
      const bool told = pool.settings.contains(name) && pool.settings[name].is_string();
      if (!told)
        in_.fail("settings", "Missing", std::string("has no text \"") + name + "\", which the provider slurm needs");
    }
    for (const auto& [name, value] : pool.settings.items()) {
      const bool is_list = name == "options" && value.is_array() &&
                           std::all_of(value.begin(), value.end(), [](const auto& any) { return any.is_string(); });
      if (name == "start" || name == "walltime" || is_list) continue;
      in_.fail("settings", "Invalid", name + " is none of start, walltime, and options as a list of texts");
    }
    const auto options = pool.settings.find("options");
    if (options != pool.settings.end() && options->is_array()) sbatch_options(*options);
  }

  void sbatch_options(const nlohmann::json& options) {
    for (const nlohmann::json& option : options) {
      if (!option.is_string()) continue;
      const RefusedOption* refused = refused_option(option.get_ref<const std::string&>());
      if (refused == nullptr) continue;
      in_.fail("settings", "Invalid",
               "has " + option.get<std::string>() + " among its options (--" + std::string(refused->name) +
                   " of sbatch): " + refused->why);
    }
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
