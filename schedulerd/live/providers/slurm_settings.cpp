#include "schedulerd/live/providers/slurm_settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tidepool::live {
namespace {

using nlohmann::json;

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

bool is_list_of_texts(const json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const json& entry) { return entry.is_string(); });
}

// Whether the shell takes it as one: lines end within quotes, or behind a backslash.
bool is_one_command(std::string_view start) {
  start = start.substr(0, start.find_last_not_of(" \r\n\t") + 1);
  char quote = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const char c = start[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote == 0 && c == '\n') {
      return false;
    }
  }
  return true;
}

// The script runs its first command in place of itself.
void check_start(const std::string& start, ObjectReader& in) {
  if (is_one_command(start)) return;
  in.fail("settings", "Invalid",
          "has a \"start\" of several commands, of which only the first would run: write one, such as "
          "sh -c \"module load cuda && exec agentd join ...\"");
}

void check_options(const json& options, ObjectReader& in) {
  for (const json& option : options) {
    if (!option.is_string()) continue;
    const RefusedOption* refused = refused_option(option.get_ref<const std::string&>());
    if (refused == nullptr) continue;
    in.fail("settings", "Invalid",
            "has " + option.get<std::string>() + " among its options (--" + std::string(refused->name) +
                " of sbatch): " + refused->why);
  }
}

}  // namespace

void check_slurm_settings(const ProviderFields& fields, ObjectReader& in) {
  const json& settings = fields.settings;
  if (!fields.command.empty()) in.fail("command", "Invalid", "goes with the provider exec");
  if (!settings.is_object()) return;
  for (const char* name : {"start", "walltime"}) {
    if (settings.contains(name) && settings[name].is_string()) continue;
    in.fail("settings", "Missing", std::string("has no text \"") + name + "\", which the provider slurm needs");
  }
  if (settings.contains("start") && settings["start"].is_string()) check_start(settings["start"], in);
  for (const auto& [name, value] : settings.items()) {
    if (name == "start" || name == "walltime" || (name == "options" && is_list_of_texts(value))) continue;
    in.fail("settings", "Invalid",
            name == "options" ? "has options that are no list of texts, such as [--partition=gpu]"
                              : "has \"" + name + "\", and the provider slurm knows start, walltime and options only");
  }
  const auto options = settings.find("options");
  if (options != settings.end() && options->is_array()) check_options(*options, in);
}

}  // namespace tidepool::live
