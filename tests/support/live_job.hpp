// A small training job on a real daemon, as several tests watch it: how it is written, how far it is, what has happened
// to it, and what its audits say.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/daemon_process.hpp"

namespace tidepool::test {

// Whether schedulerd, agentd and the trainer have been built.
[[nodiscard]] bool programs_are_built();

// charlm on a text of its own, so that an epoch is short and its audit comes often; one or two workers.
[[nodiscard]] nlohmann::json job_on(const TemporaryFolder& folder, int steps);

// Ends agent and workers however the test ends.
struct Cleanup {
  const TemporaryFolder& folder;
  ~Cleanup() { end_everything_of(folder); }
};

// job-1, the only one.
[[nodiscard]] nlohmann::json job_of(HttpClient& client);
[[nodiscard]] bool reaches_step(HttpClient& client, int step);
[[nodiscard]] bool reaches_state(HttpClient& client, const std::string& state, int seconds = 120);
[[nodiscard]] bool ends_well(HttpClient& client);

// All of this type, oldest first.
[[nodiscard]] std::vector<nlohmann::json> events_of(HttpClient& client, const std::string& type);

// Each epoch was audited exactly once, and every audit was right. Gives the samples used in all of them.
std::int64_t check_audits(HttpClient& client);

// The trainers that run for this folder.
[[nodiscard]] std::vector<pid_t> workers_of(const TemporaryFolder& folder);

// What the workers have printed so far, in bytes: it grows while they train.
[[nodiscard]] std::uintmax_t log_bytes(const TemporaryFolder& folder);

}  // namespace tidepool::test
