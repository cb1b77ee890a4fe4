#include "schedulerd/live/setup/config_file.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/comm_address.hpp"
#include "api/worker_protocol.hpp"
#include "base/json.hpp"
#include "base/word_list.hpp"
#include "base/yaml/yaml_document.hpp"

namespace tidepool::live {
namespace {

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
    return std::string("has nothing below it; ") + (name == "tls" ? kTlsForm : "give it a value, or remove it");
  }
  if (section == kSectionForms.end() || value.is_object()) return std::nullopt;
  return std::string("must be an object with named fields; ") + section->second;
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

class ConfigFile {
 public:
  ConfigFile(Config& config, ConfigFields& fields) : config_(config), fields_(fields) {}

  void read(const std::string& path, const ConfigInputs& known);

 private:
  void tls_section(const nlohmann::json& value, std::vector<FieldError>& findings);
  void local_addresses(ObjectReader& in);
  void local_section(const nlohmann::json& value, const std::string& file, std::vector<FieldError>& findings);
  void agents_section(const nlohmann::json& value, const std::string& file, std::vector<FieldError>& findings);
  void engine_section(const nlohmann::json& value, const std::string& file, std::vector<FieldError>& findings);
  void retention_section(const nlohmann::json& value, const std::string& file, std::vector<FieldError>& findings);
  void unsteady_section(const nlohmann::json& value, const std::string& file, std::vector<FieldError>& findings);
  void straggler_section(const nlohmann::json& value, const std::vector<std::string>& known,
                         std::vector<FieldError>& findings);
  void allowed_hosts_section(const nlohmann::json& value, const std::string& file);

  Config& config_;
  ConfigFields& fields_;
};

void ConfigFile::local_addresses(ObjectReader& in) {
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

void ConfigFile::local_section(const nlohmann::json& value, const std::string& file,
                               std::vector<FieldError>& findings) {
  ObjectReader in(value, "/local", findings);
  fields_.slots(file + "/local/slots",
                in.integer("slots", config_.local_slots, {.low = 0, .high = api::kNodeSlotsMax}));
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

void ConfigFile::tls_section(const nlohmann::json& value, std::vector<FieldError>& findings) {
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

void ConfigFile::agents_section(const nlohmann::json& value, const std::string& file,
                                std::vector<FieldError>& findings) {
  ObjectReader in(value, "/agents", findings);
  if (in.has("listen")) {
    Endpoint bind{.host = api::kLoopbackHost, .port = 0};  // of a wrong one no more is said
    fields_.listen(in, file + "/agents", bind);
    config_.agents_listen = bind;
  }
  fields_.duration(in, file + "/agents", "heartbeat", config_.heartbeat);
  fields_.duration(in, file + "/agents", "patience", config_.patience);
  fields_.duration(in, file + "/agents", "certificate_lifetime", config_.node_certificate_lifetime);
  if (config_.node_certificate_lifetime < kCertificateLifetimeMin) {
    in.fail("certificate_lifetime", "OutOfRange", "must be at least 10s, and is better days");
  }
  if (config_.patience < config_.heartbeat * 2) {
    in.fail("patience", "OutOfRange", "must be at least twice the heartbeat, or healthy nodes count as lost");
  }
  in.finish();
}

void ConfigFile::engine_section(const nlohmann::json& value, const std::string& file,
                                std::vector<FieldError>& findings) {
  ObjectReader in(value, "/engine", findings);
  fields_.duration(in, file + "/engine", "start_timeout", config_.start_timeout);
  fields_.duration(in, file + "/engine", "switch_timeout", config_.switch_timeout);
  fields_.duration(in, file + "/engine", "plan_every", config_.plan_every);
  config_.replace_stragglers = in.boolean("replace_stragglers", config_.replace_stragglers);
  config_.rebalance_stragglers = in.boolean("rebalance_stragglers", config_.rebalance_stragglers);
  in.finish();
}

void ConfigFile::retention_section(const nlohmann::json& value, const std::string& file,
                                   std::vector<FieldError>& findings) {
  ObjectReader in(value, "/retention", findings);
  fields_.duration(in, file + "/retention", "age", config_.retention);
  fields_.bytes(file + "/retention/size", in.text("size", ""), config_.retention_bytes);
  in.finish();
}

void ConfigFile::unsteady_section(const nlohmann::json& value, const std::string& file,
                                  std::vector<FieldError>& findings) {
  UnsteadyNodes& asked = config_.unsteady_nodes;
  if (value.is_string() && value.get<std::string>() == "off") {
    asked.half_life = Duration();
    return;
  }
  ObjectReader in(value, "/unsteady_nodes", findings);
  fields_.duration(file + "/unsteady_nodes/half_life (unsteady_nodes: off counts no faults)", in.text("half_life", ""),
                   asked.half_life);
  fields_.duration(file + "/unsteady_nodes/longest", in.text("longest", ""), asked.longest);
  asked.suppress = in.number("suppress", asked.suppress, 0.1, 1000);
  asked.reuse = in.number("reuse", asked.reuse, 0.01, 1000);
  if (asked.suppress <= asked.reuse) in.fail("reuse", "OutOfRange", "must be below suppress");
  if (asked.longest < asked.half_life) in.fail("longest", "OutOfRange", "must be at least half_life");
  in.finish();
}

void ConfigFile::straggler_section(const nlohmann::json& value, const std::vector<std::string>& known,
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

void ConfigFile::allowed_hosts_section(const nlohmann::json& value, const std::string& file) {
  const bool is_list =
      value.is_array() && std::all_of(value.begin(), value.end(), [](const auto& name) { return name.is_string(); });
  if (!is_list) return fields_.complain(file + "/allowed_hosts", "must be a list of hosts, such as [pool.example.org]");
  for (const nlohmann::json& name : value) fields_.allowed_host(file + "/allowed_hosts", name.get<std::string>());
}

void ConfigFile::read(const std::string& path, const ConfigInputs& known) {
  std::ifstream stream(path, std::ios::binary);
  std::string text(YamlLimits{}.bytes_max + 1, '\0');  // a byte more than the reader takes
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) return fields_.complain("--config " + path, "the file cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > YamlLimits{}.bytes_max)
    return fields_.complain("--config " + path, "the file is larger than 1 MiB");
  const auto read = read_yaml(text);
  if (!read) return fields_.complain("--config " + path, read.error().message);
  const nlohmann::json& document = *read;
  if (document.is_null()) return;  // an empty file asks for nothing
  const std::string file = path + ": ";
  std::vector<FieldError> findings;
  const nlohmann::json well_formed = without_wrong_forms(document, findings);
  ObjectReader in(well_formed, "", findings);
  if (in.has("listen")) fields_.listen(in, file, config_.listen);
  config_.state_dir = in.text("state_dir", config_.state_dir);
  const std::string named = in.text("policy", "");
  if (in.has("policy") && in.raw("policy").is_string()) fields_.policy(file + "/policy", named, known.policies);
  config_.allow_native_policies = in.boolean("allow_native_policies", config_.allow_native_policies);
  config_.log_level = in.text("log_level", config_.log_level);
  if (in.has("currency")) fields_.currency(file + "/currency", in.text("currency", config_.currency));
  if (in.has("allowed_hosts")) allowed_hosts_section(in.raw("allowed_hosts"), file);
  if (in.has("tls")) tls_section(in.raw("tls"), findings);
  if (in.has("local")) local_section(in.raw("local"), file, findings);
  if (in.has("agents")) agents_section(in.raw("agents"), file, findings);
  if (in.has("engine")) engine_section(in.raw("engine"), file, findings);
  if (in.has("retention")) retention_section(in.raw("retention"), file, findings);
  if (in.has("straggler")) straggler_section(in.raw("straggler"), known.detectors, findings);
  if (in.has("unsteady_nodes")) unsteady_section(in.raw("unsteady_nodes"), file, findings);
  if (in.has("pools")) config_.pools = read_pools(in.raw("pools"), findings);
  in.finish();
  for (const auto& finding : findings) {
    fields_.complain(finding.pointer.empty() ? path : file + finding.pointer, finding.message);
  }
}

}  // namespace

void read_config_file(const std::string& path, const ConfigInputs& known, Config& config, ConfigFields& fields) {
  ConfigFile(config, fields).read(path, known);
}

}  // namespace tidepool::live
