// What the journal keeps in addition to facts and decisions, as plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/time.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::leader {

struct MetricPoint {
  Instant at;
  std::int64_t step = 0;
  int size = 0;
  GenerationNumber generation = 0;
  double samples_per_second = 0;
  double step_ms = 0;
  double loss = 0;
  std::vector<double> compute_ms;
  std::int64_t global_batch = 0;      // 0 = not reported
  std::optional<double> noise_scale;  // in samples; none: unknown at that time
};

// Newest measurement of a job, for progress that the state does not keep.
struct LatestMetrics {
  double samples_per_second = 0;
  double step_ms = 0;
  bool operator==(const LatestMetrics&) const = default;
};

struct TokenRecord {
  std::string id;
  std::string name;
  std::string role;
  std::string tenant;
  std::string secret_sha256;
  std::string created_at;  // RFC 3339
  std::optional<std::int64_t> expires_unix_s;
  bool revoked = false;
};

// Settings of a node by operators instead of its agent. Empty = the agent's report counts.
struct NodeTerms {
  std::map<std::string, std::string> labels;
  std::string slot_type;  // of GPUs; CPU slots are always "cpu"
  std::optional<Money> price_per_slot_hour;
};

// A token with which machines join, each under its own name. Times are on the daemon's time line.
struct NodeToken {
  std::string id;
  std::string secret_sha256;
  std::int64_t uses_max = 1;
  std::int64_t uses = 0;
  std::string name_prefix;  // required prefix of the nodes' names; empty = any
  NodeTerms terms;          // of the nodes that join with it
  Instant created_at;
  Instant expires_at;
  std::string created_by;  // token id
  bool revoked = false;
};

// The certificate of a node name: of the key that the node created when it joined.
struct NodeCredential {
  std::string node;        // its name
  std::string key_sha256;  // of its key
  std::string token_id;    // that it joined with
  NodeTerms terms;
  Instant joined_at;
  Instant valid_until;                // of its newest certificate
  std::optional<Instant> revoked_at;  // none: not revoked
  std::string revoke_reason;
};

// The result of checking a version in a real host. Canonical JSON in the journal.
struct PolicyChecks {
  bool runs = false;  // the host loaded it
  std::string fault;  // why not
  std::vector<std::string> hooks;
  std::int64_t tests = 0;  // number of tests run; 0 = none yet
  std::int64_t failed = 0;
  std::string at;  // RFC 3339
};

struct PolicyVersion {
  std::string name;
  std::string version;                 // 64 hexadecimal digits
  std::string created_at;              // RFC 3339
  std::string created_by;              // token id; "--policy" of the command line
  std::string manifest;                // canonical JSON of policy.yaml, every default written out
  std::string source;                  // Lua text or a library's bytes; empty in lists
  std::string tests;                   // canonical JSON: an object of file names and lists of tests
  std::optional<PolicyChecks> checks;  // none = never checked
};

// The earlier answer to an idempotency key.
struct StoredReceipt {
  std::string request_hash;
  std::optional<JobId> job;
  std::string token_id;
};

// A job that has ended and left the state.
struct EndedNote {
  std::string state;  // "failed"
  Instant at;
  [[nodiscard]] bool failed() const { return state == core::to_text(core::JobState::kFailed); }
};

}  // namespace tidepool::leader
