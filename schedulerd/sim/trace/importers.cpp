#include "schedulerd/sim/trace/importers.hpp"

#include <string>

namespace tidepool::sim {

Result<TraceFormat> find_trace_format(std::string_view name) {
  std::string known;
  for (const TraceFormat& format : kTraceFormats) {
    if (format.name == name) return format;
    known += (known.empty() ? "" : ", ") + std::string(format.name);
  }
  return invalid_argument("there is no trace format called \"" + std::string(name) + "\"; there are: " + known);
}

}  // namespace tidepool::sim
