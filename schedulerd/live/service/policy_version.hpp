// A version of a policy file as the daemon keeps it: everything that decides its answers, its tests, and what came of
// looking it over. Its key is its name and the SHA-256 of what decides, so a version never changes once it is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "policies/host/policy_file.hpp"

namespace tidepool::live {

// What came of looking a version over in a real host. Canonical JSON in the journal.
struct PolicyChecks {
  bool runs = false;  // the host took it
  std::string fault;  // why not
  std::vector<std::string> hooks;
  std::int64_t tests = 0;  // that were run; 0 = none yet
  std::int64_t failed = 0;
  std::string at;  // RFC 3339
};
[[nodiscard]] nlohmann::json to_json(const PolicyChecks& checks);
[[nodiscard]] PolicyChecks checks_from_json(const nlohmann::json& value);

struct PolicyVersion {
  std::string name;
  std::string version;                 // 64 hexadecimal digits
  std::string created_at;              // RFC 3339
  std::string created_by;              // token id; "--policy" of the command line
  std::string manifest;                // canonical JSON of policy.yaml, every default written out
  std::string source;                  // Lua text or a library's bytes; empty in lists
  std::string tests;                   // canonical JSON: an object of file names and lists of tests
  std::optional<PolicyChecks> checks;  // none = never looked over
};

// Requires: a stored version. An error says that it was damaged, or that it was written for an older interface and what
// to change in it.
[[nodiscard]] Result<policies::host::PolicyFile> file_of(const PolicyVersion& version);
[[nodiscard]] PolicyVersion version_from(const policies::host::PolicyFile& file, const nlohmann::json& tests);

}  // namespace tidepool::live
