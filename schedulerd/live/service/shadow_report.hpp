// How the answers of a shadow policy differed from the active policy, added up over rounds, with the newest
// differences. Stored in the journal, so that a restart continues the count; a new shadow starts from zero.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "policies/host/file_round.hpp"

namespace tidepool::live {

inline constexpr std::size_t kDifferencesKept = 50;

struct ShadowDifference {
  Instant at;
  policies::host::RoundDifference what;
};

// For one pool, over the rounds in which the candidate sized it.
struct ShadowPool {
  std::string slot_type;              // as of the newest round; empty = not told
  std::int64_t rounds = 0;            // > 0
  std::int64_t rounds_different = 0;  // of them
  std::int64_t nodes_live = 0;
  std::int64_t nodes_candidate = 0;
};

struct ShadowReport {
  core::PolicyFileRef file;
  Instant since;
  std::int64_t rounds = 0;            // compared
  std::int64_t rounds_different = 0;  // of them, with at least one job
  std::int64_t jobs = 0;              // compared, over all rounds
  std::int64_t jobs_different = 0;
  std::int64_t slots_live = 0;  // given, over all rounds
  std::int64_t slots_candidate = 0;
  std::map<std::string, ShadowPool> pools;     // by name
  std::map<std::string, std::int64_t> faults;  // rounds that failed, by name
  std::string last_fault;                      // its message
  std::deque<ShadowDifference> newest;         // the newest last

  void add(const policies::host::RoundComparison& round);
};

// As the journal keeps it.
[[nodiscard]] nlohmann::json to_json(const ShadowReport& report);
[[nodiscard]] Result<ShadowReport> shadow_report_from_json(const nlohmann::json& value);

}  // namespace tidepool::live
