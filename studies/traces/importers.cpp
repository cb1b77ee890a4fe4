#include "studies/traces/importers.hpp"

#include <string>

#include "base/word_list.hpp"

namespace tidepool::sim {

Result<TraceFormat> find_trace_format(std::string_view name) {
  for (const TraceFormat& format : kTraceFormats) {
    if (format.name == name) return format;
  }
  return invalid_argument("there is no trace format called \"" + std::string(name) +
                          "\"; there are: " + word_list(kTraceFormats, &TraceFormat::name));
}

}  // namespace tidepool::sim
