#include "policies/host/policy_file.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "base/overloaded.hpp"
#include "base/word_list.hpp"
#include "base/yaml/yaml_document.hpp"
#include "policies/host/shared_image.hpp"

namespace tidepool::policies::host {
namespace {

using nlohmann::json;

constexpr std::size_t kLuaBytesMax = 256U << 10U;
constexpr std::size_t kManifestBytesMax = 64U << 10U;
constexpr std::int64_t kInstructionsMax = 200'000'000;
constexpr std::int64_t kMemoryMibMax = 1'024;
constexpr Duration kWallMax = Duration::seconds(10);
constexpr std::int64_t kMib = 1 << 20;

constexpr const char* kShareHook = "share";
constexpr const char* kProvisionHook = "provision";

constexpr const char* kOldVersion =
    "is 1, and this is version 2: write \"api: 2\" in this line of policy.yaml. view.node_type has names now, such as "
    "\"h100\", where it had numbers; view.tenant, view.price, view.types_asked and view.types_held are new "
    "(docs/policies.md, \"From version 1 to 2\")";

constexpr const char* kLaterVersion =
    "is later than 2, the newest version of the interface here: write the policy for that one, or install a newer "
    "Tidepool";

bool is_name(std::string_view name, std::size_t bytes_max) {
  return !name.empty() && name.size() <= bytes_max && std::islower(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_' || c == '-';
         });
}

json value_json(const ParamValue& value) {
  return std::visit([](const auto& any) { return json(any); }, value);
}

// The value if it has the type of the parameter's default.
std::optional<ParamValue> value_of(const json& given, const ParamValue& like) {
  return std::visit(Overloaded{[&](double) -> std::optional<ParamValue> {
                                 if (!given.is_number()) return std::nullopt;
                                 return ParamValue(given.get<double>());
                               },
                               [&](bool) -> std::optional<ParamValue> {
                                 if (!given.is_boolean()) return std::nullopt;
                                 return ParamValue(given.get<bool>());
                               },
                               [&](const std::string&) -> std::optional<ParamValue> {
                                 if (!given.is_string()) return std::nullopt;
                                 return ParamValue(given.get<std::string>());
                               }},
                    like);
}

std::string type_of(const ParamValue& value) {
  return std::visit(Overloaded{[](double) { return "number"; }, [](bool) { return "boolean"; },
                               [](const std::string&) { return "text, quoted where it looks like another value"; }},
                    value);
}

std::string written(double number) {
  return std::trunc(number) == number && std::fabs(number) < 1e15 ? std::to_string(static_cast<std::int64_t>(number))
                                                                  : json(number).dump();
}

// Why `value` does not suit; nothing if it does.
std::optional<std::string> unsuitable(const ParamRule& rule, const ParamValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    if (rule.low && *number < *rule.low) return "must be at least " + written(*rule.low);
    if (rule.high && *number > *rule.high) return "must be at most " + written(*rule.high);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->size() >= kTextBytes) return "has at most " + std::to_string(kTextBytes - 1) + " bytes";
    const bool known =
        rule.choices.empty() || std::find(rule.choices.begin(), rule.choices.end(), *text) != rule.choices.end();
    if (!known) return "must be one of " + json(rule.choices).dump();
  }
  return std::nullopt;
}

ParamRule read_rule(const std::string& name, const json& value, const std::string& pointer,
                    std::vector<FieldError>& errors) {
  ObjectReader in(value, pointer, errors);
  ParamRule rule{.param = {.name = name, .value = 0.0}};
  const json& fallback = in.raw("default");
  if (fallback.is_boolean()) {
    rule.param.value = fallback.get<bool>();
  } else if (fallback.is_string()) {
    rule.param.value = fallback.get<std::string>();
  } else if (fallback.is_number()) {
    rule.param.value = fallback.get<double>();
  } else {
    in.fail("default", "Missing", "is missing: a parameter has a default, which is a number, a boolean or a text");
  }
  constexpr double kLargest = 1e15;
  if (in.has("min")) rule.low = in.number("min", 0, -kLargest, kLargest);
  if (in.has("max")) rule.high = in.number("max", 0, -kLargest, kLargest);
  const json& choices = in.raw("choices");
  for (const json& choice : choices.is_array() ? choices : json::array()) {
    if (choice.is_string()) rule.choices.push_back(choice.get<std::string>());
  }
  if (!choices.is_null() && (!fallback.is_string() || !choices.is_array() || rule.choices.size() != choices.size())) {
    in.fail("choices", "WrongType", "must be a list of texts, of a parameter whose default is a text");
  }
  rule.about = in.text("about", "");
  in.finish();
  if (const auto why = unsuitable(rule, rule.param.value)) in.fail("default", "OutOfRange", *why);
  return rule;
}

Budgets read_budgets(const json& value, std::vector<FieldError>& errors) {
  Budgets budgets;
  if (value.is_null()) return budgets;
  ObjectReader in(value, "/budgets", errors);
  budgets.instructions = in.integer("instructions", budgets.instructions, {.low = 10'000, .high = kInstructionsMax});
  budgets.memory_bytes =
      kMib * in.integer("memory_mib", budgets.memory_bytes / kMib, {.low = 1, .high = kMemoryMibMax});
  if (in.has("wall")) {
    const auto wall = parse_duration(in.text("wall", ""));
    if (!wall || *wall < Duration::millis(1) || *wall > kWallMax) {
      in.fail("wall", "Invalid", "must be a time from 1ms to 10s, such as 250ms");
    } else {
      budgets.wall = *wall;
    }
  }
  in.finish();
  return budgets;
}

// What the folder's policy.yaml says; without one it is all as usual.
Result<Manifest> read_described(const std::filesystem::path& folder) {
  json manifest = json::object();
  FieldLines lines;
  const auto described = folder / "policy.yaml";
  std::error_code failed;
  if (std::filesystem::exists(described, failed)) {
    const auto text = read_whole_file(described, kManifestBytesMax);
    if (!text) return text.error();
    auto parsed = read_yaml(*text, lines);
    if (!parsed) return invalid_argument(described.string() + ": " + parsed.error().message);
    if (parsed->is_null()) return invalid_argument(described.string() + " has no content; write some or remove it");
    manifest = *std::move(parsed);
  }
  std::vector<FieldError> errors;
  Manifest read = read_manifest(manifest, folder.filename().stem().string(), errors);
  if (errors.empty()) return read;
  return invalid_argument(findings_text(described.string(), lines, errors));
}

std::string program_of(EngineKind engine) {
  return engine == EngineKind::kNative ? "policy.so" : "policy.lua";
}

// `named`: the program in it by whose path the folder was given; "" = by its own.
Result<PolicyFile> read_folder(const std::filesystem::path& folder, const std::string& named) {
  PolicyFile file;
  auto manifest = read_described(folder);
  if (!manifest) return manifest.error();
  file.manifest = *std::move(manifest);
  const std::string runs = program_of(file.manifest.engine);
  if (!named.empty() && named != runs) {
    return invalid_argument((folder / named).string() + ": the policy.yaml beside it runs " + runs +
                            "; write \"engine: " + (named == "policy.so" ? "native" : "lua") +
                            "\" there, or remove one of the two");
  }
  std::error_code failed;
  const bool native = file.manifest.engine == EngineKind::kNative;
  const std::filesystem::path program = folder / runs;
  if (native && !std::filesystem::exists(program, failed)) {
    return invalid_argument(
        program.string() + " is not there: a native policy is built first, such as by c++ -std=c++20 " +
        "-O2 -fPIC -shared -I SOURCES policy.cpp -o policy.so, where SOURCES is Tidepool's source folder "
        "(docs/policies.md)");
  }
  auto source = read_whole_file(program, native ? std::size_t{kSourceBytesMax} : kLuaBytesMax);
  if (!source) return source.error();
  file.source = *std::move(source);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "tests", failed)) {
    if (entry.path().extension() == ".yaml") file.tests.push_back(entry.path());
  }
  std::sort(file.tests.begin(), file.tests.end());
  return file;
}

PolicyFault not_listed(const std::string& hook, const std::string& decides) {
  return {.code = "policy.wrong_shape",
          .message = "the policy has the hook " + hook + ", and policy.yaml does not list it: write \"hooks: [" + hook +
                     "]\" there, with its other hooks, since it decides " + decides};
}

std::vector<std::string> read_hooks(ObjectReader& in) {
  const json& listed = in.raw("hooks");
  if (!listed.is_null() && !listed.is_array()) in.fail("hooks", "WrongType", "must be a list, such as [order, size]");
  const auto known = hook_names(kAdmit | kOrder | kSizes | kShare | kProvision);
  std::vector<std::string> hooks;
  for (const json& hook : listed.is_array() ? listed : json::array()) {
    std::string name = hook.is_string() ? hook.get<std::string>() : "";
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      in.fail("hooks", "Invalid", "may list " + word_list(known));
    }
    hooks.push_back(std::move(name));
  }
  return hooks;
}

std::vector<ParamRule> read_params(ObjectReader& in, std::vector<FieldError>& errors) {
  const json& table = in.raw("params");
  std::vector<ParamRule> params;
  if (!table.is_object() && !table.is_null()) {
    in.fail("params", "WrongType", "must be a table of names, each with a default");
  }
  const json rules = table.is_object() ? table : json::object();
  for (const auto& [name, rule] : rules.items()) {
    const std::string pointer = std::string("/params/").append(name);
    if (!is_name(name, kNameBytes - 1)) {
      errors.push_back({pointer, "Invalid",
                        "a parameter's name is small letters, digits, _ and -, at most 31, and begins with a letter"});
    }
    params.push_back(read_rule(name, rule, pointer, errors));
  }
  if (params.size() > kParamsMax) in.fail("params", "OutOfRange", "are more than 64, the most that a policy has");
  return params;
}

}  // namespace

Manifest read_manifest(const json& value, const std::string& name, std::vector<FieldError>& errors) {
  ObjectReader in(value, "", errors);
  Manifest manifest;
  manifest.name = in.text("name", name);
  if (!is_name(manifest.name, 63)) {
    in.fail("name", "Invalid", "must be small letters, digits, _ and -, at most 63, and begin with a letter");
  } else if (manifest.name == "status") {
    in.fail("name", "Invalid", "must not be \"status\", which is the path of GET /v1/policies/status; choose another");
  }
  manifest.about = in.text("about", "");
  const auto api = in.integer("api", TIDEPOOL_POLICY_ABI, {.low = INT64_MIN, .high = INT64_MAX});
  if (api < 1) in.fail("api", "OutOfRange", "must be " + std::to_string(TIDEPOOL_POLICY_ABI));
  if (api >= 1 && api < TIDEPOOL_POLICY_ABI) in.fail("api", "OutOfRange", kOldVersion);
  if (api > TIDEPOOL_POLICY_ABI) in.fail("api", "OutOfRange", kLaterVersion);
  const std::string engine = in.text("engine", "lua");
  if (engine != "lua" && engine != "native") in.fail("engine", "Invalid", "must be lua or native");
  manifest.engine = engine == "native" ? EngineKind::kNative : EngineKind::kLua;
  manifest.hooks = read_hooks(in);
  manifest.params = read_params(in, errors);
  manifest.budgets = read_budgets(in.raw("budgets"), errors);
  in.finish();
  return manifest;
}

bool Manifest::shares() const {
  return std::find(hooks.begin(), hooks.end(), kShareHook) != hooks.end();
}

bool Manifest::provisions() const {
  return std::find(hooks.begin(), hooks.end(), kProvisionHook) != hooks.end();
}

json to_json(const Manifest& manifest) {
  json params = json::object();
  for (const ParamRule& rule : manifest.params) {
    json& entry = params[rule.param.name] = {{"default", value_json(rule.param.value)}};
    if (rule.low) entry["min"] = *rule.low;
    if (rule.high) entry["max"] = *rule.high;
    if (!rule.choices.empty()) entry["choices"] = rule.choices;
    if (!rule.about.empty()) entry["about"] = rule.about;
  }
  return {{"name", manifest.name},
          {"about", manifest.about},
          {"api", TIDEPOOL_POLICY_ABI},
          {"engine", manifest.engine == EngineKind::kLua ? "lua" : "native"},
          {"hooks", manifest.hooks},
          {"params", std::move(params)},
          {"budgets",
           {{"instructions", manifest.budgets.instructions},
            {"memory_mib", manifest.budgets.memory_bytes / kMib},
            {"wall", to_text(manifest.budgets.wall)}}}};
}

std::vector<std::string> hook_names(std::uint32_t hooks) {
  const std::pair<Hook, const char*> known[] = {
      {kAdmit, "admit"}, {kOrder, "order"}, {kSizes, "size"}, {kShare, kShareHook}, {kProvision, kProvisionHook},
      {kMarks, "marks"}};
  std::vector<std::string> names;
  for (const auto& [hook, name] : known) {
    if ((hooks & hook) != 0) names.emplace_back(name);
  }
  return names;
}

Result<std::vector<Param>> choose_params(const Manifest& manifest, const json& given) {
  std::vector<Param> chosen;
  std::vector<std::string> names;
  for (const ParamRule& rule : manifest.params) {
    names.push_back(rule.param.name);
    Param& param = chosen.emplace_back(rule.param);
    if (!given.contains(param.name)) continue;
    auto value = value_of(given[param.name], param.value);
    if (!value) return invalid_argument("the parameter " + param.name + " must be a " + type_of(param.value));
    if (const auto why = unsuitable(rule, *value)) {
      return invalid_argument("the parameter " + param.name + " " + *why);
    }
    param.value = *std::move(value);
  }
  for (const auto& [name, value] : given.items()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto near = nearest_word(name, names);
    return invalid_argument("the policy has no parameter \"" + name + "\"" +
                            (near ? "; did you mean \"" + *near + "\"?" : "; policy.yaml lists them under params"));
  }
  return chosen;
}

std::variant<std::vector<std::string>, PolicyFault> look_over(const PolicyFile& file, PolicyHost& process) {
  auto loaded = process.load();
  if (auto* fault = std::get_if<PolicyFault>(&loaded)) return std::move(*fault);
  auto hooks = hook_names(std::get<std::uint32_t>(loaded));
  for (const std::string& wanted : file.manifest.hooks) {
    if (std::find(hooks.begin(), hooks.end(), wanted) != hooks.end()) continue;
    return PolicyFault{
        .code = "policy.wrong_shape",
        .message = "policy.yaml lists the hook " + wanted + ", and the policy has only " + word_list(hooks)};
  }
  const auto has = [&](Hook hook) { return (std::get<std::uint32_t>(loaded) & hook) != 0; };
  if (has(kShare) && !file.manifest.shares()) return not_listed(kShareHook, "how tenants share the pool");
  if (has(kProvision) && !file.manifest.provisions()) return not_listed(kProvisionHook, "how many nodes pools have");
  return hooks;
}

std::string version_of(const PolicyFile& file) {
  // Everything that decides an answer, each part with its length so that none can pass for another.
  const std::string manifest = canonical_json(to_json(file.manifest));
  const std::string text = std::to_string(manifest.size()) + "\n" + manifest + file.source;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  TP_CHECK(EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr) == 1, "SHA-256 is there");
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[hash[i] >> 4U];
    hex += "0123456789abcdef"[hash[i] & 15U];
  }
  return hex;
}

Result<std::string> read_whole_file(const std::filesystem::path& path, std::size_t bytes_max) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  if (failed) return not_found(path.string() + " cannot be read: " + failed.message());
  if (bytes > bytes_max) {
    return Error{ErrorCode::kLimitExceeded, path.string() + " has " + std::to_string(bytes) + " bytes; at most " +
                                                std::to_string(bytes_max) + " are read"};
  }
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in || text.size() > bytes_max) return io_error(path.string() + " cannot be read");
  return text;
}

Result<PolicyFile> read_policy_file(const std::filesystem::path& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    // A trailing slash leaves no name.
    return read_folder(path.has_filename() ? path : path.parent_path(), "");
  }
  const std::string name = path.filename().string();
  const bool is_program = name == program_of(EngineKind::kLua) || name == program_of(EngineKind::kNative);
  if (is_program && std::filesystem::exists(path.parent_path() / "policy.yaml", failed)) {
    return read_folder(path.has_parent_path() ? path.parent_path() : ".", name);
  }
  const bool native = path.extension() == ".so";
  if (!native && path.extension() != ".lua") {
    const bool is_there = std::filesystem::exists(path, failed);
    if (failed) return invalid_argument(path.string() + " cannot be read: " + failed.message());
    return invalid_argument(path.string() + (is_there ? " is no policy" : " is not there") +
                            ": give a .lua file, a .so library or a folder with one");
  }
  auto source = read_whole_file(path, native ? std::size_t{kSourceBytesMax} : kLuaBytesMax);
  if (!source) return source.error();
  std::vector<FieldError> errors;
  PolicyFile file{.manifest = read_manifest(json::object(), path.stem().string(), errors),
                  .source = *std::move(source),
                  .tests = {}};
  if (!errors.empty()) return invalid_argument(path.string() + ": " + errors.front().message);
  file.manifest.engine = native ? EngineKind::kNative : EngineKind::kLua;
  return file;
}

}  // namespace tidepool::policies::host
