#include "schedulerd/live/service/policy_version.hpp"

#include "base/json.hpp"

namespace tidepool::live {

using nlohmann::json;

json to_json(const PolicyChecks& checks) {
  return {{"runs", checks.runs},   {"fault", checks.fault},   {"hooks", checks.hooks},
          {"tests", checks.tests}, {"failed", checks.failed}, {"at", checks.at}};
}

PolicyChecks checks_from_json(const json& value) {
  PolicyChecks checks;
  checks.runs = value.value("runs", false);
  checks.fault = value.value("fault", "");
  checks.hooks = value.value("hooks", std::vector<std::string>{});
  checks.tests = value.value("tests", std::int64_t{0});
  checks.failed = value.value("failed", std::int64_t{0});
  checks.at = value.value("at", "");
  return checks;
}

Result<policies::host::PolicyFile> file_of(const PolicyVersion& version) {
  auto manifest = parse_json(version.manifest);
  if (!manifest) return manifest.error();
  std::vector<FieldError> errors;
  policies::host::PolicyFile file{.manifest = policies::host::read_manifest(*manifest, version.name, errors),
                                  .source = version.source,
                                  .tests = {}};
  const std::string what = "the stored version " + version.version.substr(0, 12) + " of " + version.name;
  if (!errors.empty()) {
    return invalid_argument(what + " is refused: " + errors.front().message + "; then store it again");
  }
  if (version_of(file) != version.version) {
    return io_error(what + " does not have its own hash; upload it again");
  }
  return file;
}

PolicyVersion version_from(const policies::host::PolicyFile& file, const json& tests) {
  return {.name = file.manifest.name,
          .version = version_of(file),
          .created_at = {},
          .created_by = {},
          .manifest = canonical_json(to_json(file.manifest)),
          .source = file.source,
          .tests = canonical_json(tests),
          .checks = {}};
}

}  // namespace tidepool::live
