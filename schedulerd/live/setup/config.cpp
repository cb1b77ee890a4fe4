#include "schedulerd/live/setup/config.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "api/comm_address.hpp"
#include "api/worker_protocol.hpp"
#include "base/byte_size.hpp"
#include "base/json.hpp"
#include "base/unknown_options.hpp"
#include "base/version.hpp"
#include "base/word_list.hpp"
#include "base/yaml/yaml_document.hpp"
#include "schedulerd/live/setup/yaml_document.hpp"

namespace tidepool::live {
namespace {

constexpr int kDevSlots = 4;
constexpr Duration kCertificateLifetimeMin = Duration::seconds(10);

// What each section may be like, for those who write it as something else.
constexpr const char* kTlsForm = "write tls: {} for TLS by the daemon's own authority, or remove it";
const std::map<std::string, const char*> kSectionForms = {
    {"tls", kTlsForm},
    {"local", "write local: {slots: 4}"},
    {"agents", "write agents: {listen: \"127.0.0.1:7481\"}"},
    {"engine", "write engine: {start_timeout: 5m}"},
    {"retention", "write retention: {age: 30d, size: 20GiB}"},
    {"straggler", "write straggler: {detector: change_point}"},
    {"pools", "write pools: {list: [...]}"},
};
// Flags of which the file has another form.
const std::map<std::string, const char*> kFlagForms = {
    {"local_slots", "write local: {slots: 4}"},
    {"retention_size", "write retention: {size: 20GiB}"},
    {"allowed_host", "write allowed_hosts: [NAME]"},
};

// Of a section without or of another form, and of a flag's name; none: nothing is wrong as far as is seen here.
std::optional<std::string> wrong_form(const std::string& name, const nlohmann::json& value) {
  const auto flag = kFlagForms.find(name);
  if (flag != kFlagForms.end()) return std::string("is a flag and no field here; ") + flag->second;
  const auto section = kSectionForms.find(name);
  if (value.is_null()) {
    return std::string("has nothing below it; ") + (name == "tls" ? kTlsForm : "write what it is to be, or remove it");
  }
  if (section == kSectionForms.end() || value.is_object()) return std::nullopt;
  return std::string("must be an object with named fields; ") + section->second;
}

// Of NAME, NAME:PORT or [ADDRESS]:PORT: one with a port that no client can write would never be met.
bool has_good_port(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (end == std::string_view::npos) return !host.starts_with('[');
  std::string_view rest = host.substr(host[end] == ']' ? end + 1 : end);
  if (end == 0) return false;
  if (rest.empty()) return true;
  std::uint16_t port = 0;
  const char* last = rest.data() + rest.size();
  return rest.front() == ':' && std::from_chars(rest.data() + 1, last, port).ptr == last && port > 0;
}

// What is left to be read.
nlohmann::json without_wrong_forms(const nlohmann::json& document, std::vector<FieldError>& findings) {
  if (!document.is_object()) return document;
  nlohmann::json rest = document;
  for (const auto& [name, value] : document.items()) {
    const auto wrong = wrong_form(name, value);
    if (!wrong) continue;
    findings.push_back({"/" + name, "WrongType", *wrong});
    rest.erase(name);
  }
  return rest;
}

// Reads one configuration into `config_` and collects all errors, each a sentence.
class Reader {
 public:
  Reader(Config& config, std::vector<std::string>& errors) : config_(config), errors_(errors) {}

  void endpoint(const std::string& what, const std::string& text, Endpoint& into) {
    auto parsed = parse_endpoint(text);
    if (!parsed.ok()) return complain(what, parsed.error().message);
    into = *parsed;
  }

  // The field "listen" of a section.
  void listen(ObjectReader& in, const std::string& section, Endpoint& into) {
    if (!in.raw("listen").is_string())
      return in.fail("listen", "WrongType", "must be a text, such as \"127.0.0.1:7480\"");
    endpoint(section + "/listen", in.text("listen", ""), into);
  }

  // Once all is read: where TLS is asked for does not matter.
  void refuse_open_binds() {
    const auto check = [&](const std::string& what, const Endpoint& bind) {
      if (config_.tls || is_loopback(bind)) return;
      complain(what, bind.host +
                         " is not a loopback address, and without TLS tokens would cross the network in clear; add "
                         "--tls (or tls: {} in the configuration), or serve 127.0.0.1, ::1 or localhost");
    };
    check("listen", config_.listen);
    if (config_.agents_listen) check("agents.listen", *config_.agents_listen);
  }

  void slots(const std::string& what, std::int64_t count) {
    if (count < 0 || count > api::kNodeSlotsMax) {
      return complain(what, std::to_string(count) + " must be from 0 to " + std::to_string(api::kNodeSlotsMax));
    }
    config_.local_slots = static_cast<int>(count);
  }

  void policy(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      config_.policy = name;
      return;
    }
    std::error_code failed;
    const bool there = std::filesystem::exists(name, failed);
    if (there || name.find('/') != std::string::npos || name.ends_with(".lua") || name.ends_with(".so")) {
      if (!there) complain(what, name + " is not there; give a .lua file, a .so library, or a folder with policy.yaml");
      config_.policy_file = name;
      return;
    }
    const auto near = nearest_word(name, known);
    complain(what, name + " is no policy" + (near ? "; did you mean " + *near + "?" : "") +
                       " (there are: " + word_list(known) + ")");
  }

  void duration(const std::string& what, const std::string& text, Duration& into) {
    if (text.empty()) return;
    const auto parsed = parse_duration(text);
    if (!parsed.ok()) return complain(what, parsed.error().message);
    if (*parsed < Duration::millis(10)) return complain(what, text + " must be at least 10ms");
    into = *parsed;
  }

  // The field of a section; without its unit it is a number in YAML.
  void duration(ObjectReader& in, const std::string& section, const std::string& name, Duration& into) {
    if (in.has(name) && in.raw(name).is_number()) {
      const std::string number = canonical_json(in.raw(name));
      return complain(section + "/" + name, number + " has no unit; write it as " + number + "s, or with another one");
    }
    duration(section + "/" + name, in.text(name, ""), into);
  }

  // Such as "20GiB".
  void bytes(const std::string& what, const std::string& text, std::int64_t& into) {
    if (text.empty()) return;
    const auto size = parse_byte_size(text);
    if (!size.ok() || *size < 64 * kMebibyte) {
      return complain(what, text + " must be a whole number of MiB, GiB or TiB, at least 64MiB, such as 20GiB");
    }
    into = *size;
  }

  // As it stands in Host: a name or an address, with a port where clients write one.
  void allowed_host(const std::string& what, const std::string& name) {
    const auto is_good = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-._[]:").find(c) != std::string_view::npos;
    };
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_good) || !has_good_port(name)) {
      return complain(what, "\"" + name + "\" is no host; write it as clients do, without scheme and path, such as " +
                                "pool.example.org, or pool.example.org:8443 where they give a port");
    }
    config_.allowed_hosts.push_back(name);
  }

  void file(const std::string& path, const ConfigInputs& known);

  void complain(const std::string& what, const std::string& why) { errors_.push_back(what + ": " + why); }

 private:
  void tls_section(const nlohmann::json& value, std::vector<FieldError>& findings);
  void local_addresses(ObjectReader& in);
  void local_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings);
  void agents_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings);
  void engine_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings);
  void retention_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings);
  void unsteady_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings);
  void straggler_section(const nlohmann::json& value, const std::vector<std::string>& known,
                         std::vector<FieldError>& findings);
  void allowed_hosts_section(const nlohmann::json& value, const std::string& path);

  Config& config_;
  std::vector<std::string>& errors_;
};

void Reader::local_addresses(ObjectReader& in) {
  config_.local_metadata = in.text("metadata", config_.local_metadata);
  if (config_.local_metadata != "auto" && config_.local_metadata != "deny" && config_.local_metadata != "allow") {
    in.fail("metadata", "Invalid", "must be auto, deny or allow");
  }
  const nlohmann::json denied = in.has("deny_addresses") ? in.raw("deny_addresses") : nlohmann::json::array();
  if (!denied.is_array()) in.fail("deny_addresses", "WrongType", "must be a list, such as [10.9.0.0/16]");
  for (const nlohmann::json& each : denied) {
    auto network = IpNetwork::parse(each.is_string() ? each.get<std::string>() : canonical_json(each));
    if (network) {
      config_.local_denied.push_back(*std::move(network));
    } else {
      in.fail("deny_addresses", "Invalid", network.error().message);
    }
  }
  // An interface is looked up by the agent, which refuses likewise.
  const std::string at = config_.local_data_address.empty() ? api::kLoopbackHost : config_.local_data_address;
  const auto own = IpNetwork::parse(at);
  if (const IpNetwork* holder = own ? holder_of(*own, config_.local_denied) : nullptr) {
    in.fail("deny_addresses", "Invalid",
            to_text(*holder) + " holds the agent's own data address " + at +
                ", at which its workers meet; deny smaller networks without it, or name another one as data_address");
  }
  if (config_.local_denied.size() > kDeniedNetworksMax) {
    in.fail("deny_addresses", "TooMany",
            "has more than " + std::to_string(kDeniedNetworksMax) + " networks; put some of them into one");
  }
}

void Reader::local_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings) {
  ObjectReader in(value, "/local", findings);
  slots(path + "/local/slots", in.integer("slots", config_.local_slots, {.low = 0, .high = api::kNodeSlotsMax}));
  if (in.has("price_per_slot_hour")) {
    const bool is_text = in.raw("price_per_slot_hour").is_string();
    const auto price = parse_price(is_text ? in.text("price_per_slot_hour", "") : "1.00");
    if (!is_text) {
      in.fail("price_per_slot_hour", "WrongType", "must be a text, such as \"1.00\" with the quotes");
    } else if (price.ok()) {
      config_.local_price = *price;
    } else {
      in.fail("price_per_slot_hour", "Invalid", price.error().message);
    }
  }
  config_.local_data_address = in.text("data_address", "");
  config_.local_isolation = in.text("isolation", config_.local_isolation);
  if (config_.local_isolation != "none" && config_.local_isolation != "auto" && config_.local_isolation != "required") {
    in.fail("isolation", "Invalid", "must be none, auto or required");
  }
  config_.local_syscall_filter = in.text("syscall_filter", config_.local_syscall_filter);
  if (config_.local_syscall_filter != "on" && config_.local_syscall_filter != "off") {
    in.fail("syscall_filter", "Invalid", "must be on or off");
  }
  local_addresses(in);
  in.finish();
}

void Reader::tls_section(const nlohmann::json& value, std::vector<FieldError>& findings) {
  ObjectReader in(value, "/tls", findings);
  TlsConfig read;
  const nlohmann::json names = in.has("names") ? in.raw("names") : nlohmann::json::array();
  if (!names.is_array()) in.fail("names", "WrongType", "must be a list of host names and IP addresses");
  for (const nlohmann::json& name : names) {
    if (name.is_string() && !name.get<std::string>().empty()) {
      read.names.push_back(name.get<std::string>());
    } else {
      in.fail("names", "WrongType", "must be a list of host names and IP addresses");
    }
  }
  read.certificate = in.text("certificate", "");
  read.key = in.text("key", "");
  read.ca = in.text("ca", "");
  if (read.certificate.empty() != read.key.empty()) {
    in.fail(read.key.empty() ? "key" : "certificate", "Missing", "is needed: certificate and key are given together");
  } else if (read.certificate.empty() && !read.ca.empty()) {
    in.fail("ca", "Invalid", "goes with certificate and key; without them the daemon is its own authority");
  }
  in.finish();
  config_.tls = std::move(read);
}

void Reader::agents_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings) {
  ObjectReader in(value, "/agents", findings);
  if (in.has("listen")) {
    Endpoint bind{.host = api::kLoopbackHost, .port = 0};  // of a wrong one no more is said
    listen(in, path + "/agents", bind);
    config_.agents_listen = bind;
  }
  duration(in, path + "/agents", "heartbeat", config_.heartbeat);
  duration(in, path + "/agents", "patience", config_.patience);
  duration(in, path + "/agents", "certificate_lifetime", config_.node_certificate_lifetime);
  if (config_.node_certificate_lifetime < kCertificateLifetimeMin) {
    in.fail("certificate_lifetime", "OutOfRange", "must be at least 10s, and is better days");
  }
  if (config_.patience < config_.heartbeat * 2) {
    in.fail("patience", "OutOfRange", "must be at least twice the heartbeat, or healthy nodes are given up");
  }
  in.finish();
}

void Reader::engine_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings) {
  ObjectReader in(value, "/engine", findings);
  duration(in, path + "/engine", "start_timeout", config_.start_timeout);
  duration(in, path + "/engine", "switch_timeout", config_.switch_timeout);
  duration(in, path + "/engine", "plan_every", config_.plan_every);
  config_.replace_stragglers = in.boolean("replace_stragglers", config_.replace_stragglers);
  config_.rebalance_stragglers = in.boolean("rebalance_stragglers", config_.rebalance_stragglers);
  in.finish();
}

void Reader::retention_section(const nlohmann::json& value, const std::string& path,
                               std::vector<FieldError>& findings) {
  ObjectReader in(value, "/retention", findings);
  duration(in, path + "/retention", "age", config_.retention);
  bytes(path + "/retention/size", in.text("size", ""), config_.retention_bytes);
  in.finish();
}

void Reader::unsteady_section(const nlohmann::json& value, const std::string& path, std::vector<FieldError>& findings) {
  UnsteadyNodes& asked = config_.unsteady_nodes;
  if (value.is_string() && value.get<std::string>() == "off") {
    asked.half_life = Duration();
    return;
  }
  ObjectReader in(value, "/unsteady_nodes", findings);
  duration(path + "/unsteady_nodes/half_life (unsteady_nodes: off counts no faults)", in.text("half_life", ""),
           asked.half_life);
  duration(path + "/unsteady_nodes/longest", in.text("longest", ""), asked.longest);
  asked.suppress = in.number("suppress", asked.suppress, 0.1, 1000);
  asked.reuse = in.number("reuse", asked.reuse, 0.01, 1000);
  if (asked.suppress <= asked.reuse) in.fail("reuse", "OutOfRange", "must be below suppress");
  if (asked.longest < asked.half_life) in.fail("longest", "OutOfRange", "must be at least half_life");
  in.finish();
}

void Reader::straggler_section(const nlohmann::json& value, const std::vector<std::string>& known,
                               std::vector<FieldError>& findings) {
  ObjectReader in(value, "/straggler", findings);
  config_.detector = in.text("detector", config_.detector);
  if (in.has("detector") && std::find(known.begin(), known.end(), config_.detector) == known.end()) {
    const auto near = nearest_word(config_.detector, known);
    in.fail("detector", "Invalid",
            "is \"" + config_.detector + "\"" + (near ? "; did you mean " + *near + "?" : "") +
                " (there are: " + word_list(known) + ")");
  }
  in.finish();
}

void Reader::allowed_hosts_section(const nlohmann::json& value, const std::string& path) {
  const bool is_list =
      value.is_array() && std::all_of(value.begin(), value.end(), [](const auto& name) { return name.is_string(); });
  if (!is_list) return complain(path + "/allowed_hosts", "must be a list of hosts, such as [pool.example.org]");
  for (const nlohmann::json& name : value) allowed_host(path + "/allowed_hosts", name.get<std::string>());
}

void Reader::file(const std::string& path, const ConfigInputs& known) {
  std::ifstream stream(path, std::ios::binary);
  std::string text(YamlLimits{}.bytes_max + 1, '\0');  // a byte more than the reader takes
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) return complain("--config " + path, "the file cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > YamlLimits{}.bytes_max) return complain("--config " + path, "the file is larger than 1 MiB");
  const auto read = read_yaml(text);
  if (!read) return complain("--config " + path, read.error().message);
  const nlohmann::json& document = *read;
  if (document.is_null()) return;  // an empty file asks for nothing
  std::vector<FieldError> findings;
  const nlohmann::json well_formed = without_wrong_forms(document, findings);
  ObjectReader in(well_formed, "", findings);
  if (in.has("listen")) listen(in, path, config_.listen);
  config_.state_dir = in.text("state_dir", config_.state_dir);
  const std::string named = in.text("policy", "");
  if (in.has("policy") && in.raw("policy").is_string()) policy(path + "/policy", named, known.policies);
  config_.allow_native_policies = in.boolean("allow_native_policies", config_.allow_native_policies);
  config_.log_level = in.text("log_level", config_.log_level);
  if (in.has("allowed_hosts")) allowed_hosts_section(in.raw("allowed_hosts"), path);
  if (in.has("tls")) tls_section(in.raw("tls"), findings);
  if (in.has("local")) local_section(in.raw("local"), path, findings);
  if (in.has("agents")) agents_section(in.raw("agents"), path, findings);
  if (in.has("engine")) engine_section(in.raw("engine"), path, findings);
  if (in.has("retention")) retention_section(in.raw("retention"), path, findings);
  if (in.has("straggler")) straggler_section(in.raw("straggler"), known.detectors, findings);
  if (in.has("unsteady_nodes")) unsteady_section(in.raw("unsteady_nodes"), path, findings);
  if (in.has("pools")) config_.pools = read_pools(in.raw("pools"), findings);
  in.finish();
  for (const auto& finding : findings) complain(path + finding.pointer, finding.message);
}

struct Flags {
  std::string config, listen, state_dir, policy, log_level, retention, retention_size;
  std::string local_slots;
  std::vector<std::string> allowed_hosts;
  bool dev = false;
  bool tls = false;
  bool allow_native_policies = false;
  bool accept_clock = false;
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config, "Configuration file (YAML)");
  app.add_flag("--dev", flags.dev, "A fresh temporary state, a local agent, the admin token printed");
  app.add_option("--listen", flags.listen, "HOST:PORT for HTTP; port 0 takes a free one (127.0.0.1:7480)");
  app.add_flag("--tls", flags.tls, "TLS 1.3 on both listeners, with a certificate of the daemon's own authority");
  app.add_option("--allowed-host", flags.allowed_hosts,
                 "A further NAME or NAME:PORT that requests may name in Host, as behind a reverse proxy; repeatable")
      ->allow_extra_args(false);
  app.add_option("--state-dir", flags.state_dir, "Where the state lives (~/.local/share/tidepool)");
  app.add_option("--local-slots", flags.local_slots, "Start an agent on this machine with N slots");
  app.add_option(
      "--policy", flags.policy,
      "The policy that decides: a name, or a file or folder with a policy (that which decided here before, or "
      "tidal)");
  app.add_flag("--allow-native-policies", flags.allow_native_policies, "Run policy files that are libraries, too");
  app.add_option("--retention", flags.retention, "How long decisions, events and ended jobs are kept (30d)");
  app.add_option("--retention-size", flags.retention_size,
                 "How large the state may become, such as 20GiB; then the oldest go before their time (no limit)");
  app.add_flag("--accept-clock", flags.accept_clock,
               "Start though the machine's clock is far from the journal's newest entry; for one start");
  app.add_option("--log-level", flags.log_level, "trace, debug, info, warn or error (info)");
  app.allow_extras();
}

void apply(const Flags& flags, const ConfigInputs& inputs, ConfigReading& reading) {
  Config& config = reading.config;
  Reader reader(config, reading.errors);
  config.dev = flags.dev;
  if (flags.dev) config.local_slots = kDevSlots;
  if (!flags.config.empty()) reader.file(flags.config, inputs);
  if (!flags.listen.empty()) reader.endpoint("--listen", flags.listen, config.listen);
  if (flags.tls && !config.tls) config.tls.emplace();
  reader.refuse_open_binds();
  for (const std::string& name : flags.allowed_hosts) reader.allowed_host("--allowed-host", name);
  if (!flags.state_dir.empty()) config.state_dir = flags.state_dir;
  if (!flags.policy.empty()) reader.policy("--policy", flags.policy, inputs.policies);
  if (flags.allow_native_policies) config.allow_native_policies = true;
  config.accept_clock = flags.accept_clock;
  if (!flags.log_level.empty()) config.log_level = flags.log_level;
  reader.duration("--retention", flags.retention, config.retention);
  reader.bytes("--retention-size", flags.retention_size, config.retention_bytes);
  if (!flags.local_slots.empty()) {
    std::int64_t count = -1;
    const char* end = flags.local_slots.data() + flags.local_slots.size();
    if (std::from_chars(flags.local_slots.data(), end, count).ptr != end) count = -1;
    if (count < 0) {
      reader.complain("--local-slots", flags.local_slots + " is no number of slots");
    } else {
      reader.slots("--local-slots", count);
    }
  }
  const std::vector<std::string> levels = {"trace", "debug", "info", "warn", "error"};
  if (std::find(levels.begin(), levels.end(), config.log_level) == levels.end()) {
    reader.complain("log level", config.log_level + " is none of trace, debug, info, warn, error");
  }
  if (config.state_dir.empty() && config.dev && !config.pools.pools.empty()) {
    reader.complain("pools", "pools need --state-dir: a temporary state would forget nodes that cost money");
  }
  if (config.state_dir.empty() && !config.dev) {
    if (inputs.home.empty()) {
      reader.complain("--state-dir", "HOME is not set, so there is no default; name a directory");
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
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, endpoint.port);
  if (error != std::errc{} || stop != end) return wrong;
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
