// The end of `schedctl watch --summary`: what the job learned, which sizes were tried, which was kept and
// why, and what it cost against holding the maximum all the time. Pure.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

struct SummaryFacts {
  nlohmann::json job;       // as GET /v1/jobs/{id} sends it, at the end
  nlohmann::json metrics;   // as GET /v1/jobs/{id}/metrics sends it; null = none
  int kept_size = 0;        // 0 = it never ran
  std::string kept_why;     // the engine's sentence; may be empty
  int epochs_sound = 0;     // audits that found each sample used exactly once
  int epochs_broken = 0;    // audits that did not
  bool error_told = false;  // with the end of the job, which was printed above
};

// Holding `size` workers from the first sample to the last, by the measured throughput at that size or,
// if it was never tried, by the daemon's fitted curve.
struct Comparison {
  double size = 0;
  bool measured = true;
  double seconds = 0;
  double slot_seconds = 0;
  std::optional<double> cost;
};
// Nothing if neither the measurements nor the curve say anything about the maximum.
[[nodiscard]] std::optional<Comparison> compare_with_maximum(const SummaryFacts& facts);

[[nodiscard]] std::string summary_text(const SummaryFacts& facts, const Style& style);

}  // namespace tidepool::ctl
