// A job's life as a Chrome trace (the JSON object form of the Trace Event Format), for chrome://tracing, Perfetto or
// speedscope. Pure: events and measurements in, document out. Times are microseconds since the job was submitted.
//
// Lanes: what the job does; its generations, with size and throughput; the pauses of its switches; the building of
// communicators beside them; what decisions and workers did, as instants. Counters: size, throughput, loss.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tidepool::ctl {

// As /v1/jobs/{id}, its /events and its /metrics give them; events and points oldest first.
struct TraceInput {
  nlohmann::json job;
  nlohmann::json events = nlohmann::json::array();
  nlohmann::json points = nlohmann::json::array();
};
[[nodiscard]] nlohmann::json chrome_trace(const TraceInput& input);

// "2026-11-20T21:53:24.120Z" as microseconds since 1970; nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> micros_of(std::string_view rfc3339);

}  // namespace tidepool::ctl
