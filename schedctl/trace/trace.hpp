// A job's life as a Chrome trace (the JSON object form of the Trace Event Format), for chrome://tracing, Perfetto or
// speedscope. Pure: events and measurements in, document out. Times are microseconds since the job was submitted.
//
// Lanes: what the job does; its generations, with their size; the pauses of its switches; the building of communicators
// beside them; the steps between two measurements; what decisions and workers did, as instants. Counters: step, size,
// throughput, loss, and each rank's compute time. The spans of a lane follow one another.
#pragma once

#include <nlohmann/json.hpp>

namespace tidepool::ctl {

// As /v1/jobs/{id}, its /events and its /metrics give them; events and points oldest first.
struct TraceInput {
  nlohmann::json job;
  nlohmann::json events = nlohmann::json::array();
  nlohmann::json points = nlohmann::json::array();
};
[[nodiscard]] nlohmann::json chrome_trace(const TraceInput& input);

}  // namespace tidepool::ctl
