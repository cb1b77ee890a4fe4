#include "schedulerd/live/setup/config.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "api/comm_address.hpp"
#include "base/number_text.hpp"
#include "base/unknown_options.hpp"
#include "base/version.hpp"
#include "schedulerd/live/setup/config_fields.hpp"
#include "schedulerd/live/setup/config_file.hpp"

namespace tidepool::live {
namespace {

constexpr int kDevSlots = 4;

struct Flags {
  std::string config, listen, state_dir, policy, log_level, retention, retention_size;
  std::string local_slots;
  std::vector<std::string> allowed_hosts;
  bool dev = false;
  bool tls = false;
  bool allow_native_policies = false;
  bool accept_clock = false;
  bool check_config = false;
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config, "Configuration file (YAML)");
  app.add_flag("--check-config", flags.check_config,
               "Check the configuration file, the flags and the certificate's files, print all errors, and exit");
  app.add_flag("--dev", flags.dev, "A fresh temporary state, a local agent, the admin token printed");
  app.add_option("--listen", flags.listen, "HOST:PORT for HTTP; port 0 takes a free one (127.0.0.1:7480)");
  app.add_flag("--tls", flags.tls, "TLS 1.3 on both listeners, with a certificate of the daemon's own authority");
  app.add_option("--allowed-host", flags.allowed_hosts,
                 "An additional NAME or NAME:PORT allowed in Host, as behind a reverse proxy; repeatable")
      ->allow_extra_args(false);
  app.add_option("--state-dir", flags.state_dir, "Where the state lives (~/.local/share/tidepool)");
  app.add_option("--local-slots", flags.local_slots, "Start an agent on this machine with N slots");
  app.add_option(
      "--policy", flags.policy,
      "The policy that decides: a name, or a file or folder with a policy (the one that decided here before, or "
      "tidal)");
  app.add_flag("--allow-native-policies", flags.allow_native_policies, "Run policy files that are libraries, too");
  app.add_option("--retention", flags.retention, "How long decisions, events and ended jobs are kept (30d)");
  app.add_option("--retention-size", flags.retention_size,
                 "Size limit of the state, such as 20GiB; beyond it the oldest records are deleted early (no limit)");
  app.add_flag("--accept-clock", flags.accept_clock,
               "Start although the machine's clock is far from the journal's newest entry; for one start");
  app.add_option("--log-level", flags.log_level, "trace, debug, info, warn or error (info)");
  app.allow_extras();
}

void apply_local_slots(const std::string& text, ConfigFields& fields) {
  const std::int64_t count = parse_number<std::int64_t>(text).value_or(-1);
  if (count < 0) {
    fields.complain("--local-slots", text + " is no number of slots");
  } else {
    fields.slots("--local-slots", count);
  }
}

void apply(const Flags& flags, const ConfigInputs& inputs, ConfigReading& reading) {
  Config& config = reading.config;
  ConfigFields fields(config, reading.errors);
  config.dev = flags.dev;
  if (flags.dev) config.local_slots = kDevSlots;
  if (!flags.config.empty()) read_config_file(flags.config, inputs, config, fields);
  if (!flags.listen.empty()) fields.endpoint("--listen", flags.listen, config.listen);
  if (flags.tls && !config.tls) config.tls.emplace();
  fields.refuse_open_binds();
  for (const std::string& name : flags.allowed_hosts) fields.allowed_host("--allowed-host", name);
  if (!flags.state_dir.empty()) config.state_dir = flags.state_dir;
  if (!flags.policy.empty()) fields.policy("--policy", flags.policy, inputs.policies);
  if (flags.allow_native_policies) config.allow_native_policies = true;
  config.accept_clock = flags.accept_clock;
  config.check_config = flags.check_config;
  if (!flags.log_level.empty()) config.log_level = flags.log_level;
  fields.duration("--retention", flags.retention, config.retention);
  fields.bytes("--retention-size", flags.retention_size, config.retention_bytes);
  if (!flags.local_slots.empty()) apply_local_slots(flags.local_slots, fields);
  const std::vector<std::string> levels = {"trace", "debug", "info", "warn", "error"};
  if (std::find(levels.begin(), levels.end(), config.log_level) == levels.end()) {
    fields.complain("log level", config.log_level + " is none of trace, debug, info, warn, error");
  }
  if (config.state_dir.empty() && config.dev && !config.pools.pools.empty()) {
    fields.complain("pools", "pools need --state-dir: a temporary state would forget nodes that cost money");
  }
  if (config.state_dir.empty() && !config.dev) {
    if (inputs.home.empty()) {
      fields.complain("--state-dir", "HOME is not set, so there is no default; name a directory");
    }
    config.state_dir = inputs.home + "/.local/share/tidepool";
  }
}

}  // namespace

Result<Endpoint> parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  const Error wrong = invalid_argument(text + " is not HOST:PORT, such as 127.0.0.1:7480");
  if (colon == std::string::npos || colon == 0) return wrong;
  Endpoint endpoint;
  endpoint.host = text.substr(0, colon);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) return wrong;
  endpoint.port = *port;
  if (endpoint.host.front() == '[' && endpoint.host.back() == ']') {
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  } else if (endpoint.host.find(':') != std::string::npos) {
    return wrong;
  }
  if (endpoint.host == "localhost") endpoint.host = api::kLoopbackHost;
  return endpoint;
}

bool is_loopback(const Endpoint& endpoint) {
  if (endpoint.host == "::1") return true;
  // 127.0.0.0/8 in plain dotted form; names are not resolved, so that a name cannot move the bind.
  int dots = 0;
  for (const char c : endpoint.host) {
    if (c == '.') ++dots;
    if (c != '.' && (c < '0' || c > '9')) return false;
  }
  return endpoint.host.starts_with("127.") && dots == 3;
}

ConfigReading read_config(const ConfigInputs& inputs) {
  ConfigReading reading;
  Flags flags;
  CLI::App app("schedulerd: decides how many GPUs each training job holds, and why", "schedulerd");
  declare(app, flags);
  app.set_version_flag("--version", std::string("schedulerd ") + kVersion);
  try {
    std::vector<std::string> reversed(inputs.arguments.rbegin(), inputs.arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    reading.help = app.help();
    return reading;
  } catch (const CLI::CallForVersion&) {
    reading.help = app.version() + "\n";
    return reading;
  } catch (const CLI::ParseError& broken) {
    reading.errors.emplace_back(broken.what());
  }
  std::vector<std::string> known;
  add_option_names(app, known);
  for (const auto& unknown : unknown_options(app.remaining(), known)) {
    reading.errors.push_back(unknown + (unknown.ends_with('?') ? "" : "; see --help"));
  }
  apply(flags, inputs, reading);
  return reading;
}

}  // namespace tidepool::live
