#include "schedulerd/live/policies/policy_reading.hpp"

#include "base/yaml/yaml_document.hpp"

namespace tidepool::live {

namespace host = policies::host;

Result<PolicyVersion> read_policy_version(const std::string& path) {
  auto file = host::read_policy_file(path);
  if (!file) return file.error();
  nlohmann::json tests = nlohmann::json::object();
  for (const auto& each : file->tests) {
    const auto text = host::read_whole_file(each, host::kTestBytesMax);
    if (!text) return text.error();
    auto list = read_yaml(*text);
    if (!list) return invalid_argument(each.string() + ": " + list.error().message);
    tests[each.filename().string()] = *std::move(list);
  }
  return version_from(*file, tests);
}

}  // namespace tidepool::live
