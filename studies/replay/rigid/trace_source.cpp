#include "studies/replay/rigid/trace_source.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "studies/traces/rigid_workloads.hpp"

namespace tidepool::sim {
namespace {

constexpr std::string_view kRigid = "rigid:";

Result<Trace> drawn(const SimOptions& options) {
  std::string_view kind = std::string_view(options.workload).substr(kRigid.size());
  std::uint64_t seed = options.seed;
  if (const auto colon = kind.find(':'); colon != std::string_view::npos) {
    const std::string_view text = kind.substr(colon + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
      return invalid_argument("\"" + options.workload + "\": write rigid:KIND:SEED with a whole number, or rigid:KIND");
    }
    kind = kind.substr(0, colon);
  }
  return rigid_workload(kind, seed);
}

}  // namespace

bool draws_rigid(const SimOptions& options) {
  return !options.workload_csv && options.workload.starts_with(kRigid);
}

bool gives_trace(const SimOptions& options) {
  if (!options.workload_csv) return draws_rigid(options);
  return is_trace_header(
      std::string_view(*options.workload_csv).substr(0, options.workload_csv->find_first_of("\r\n")));
}

Result<Trace> trace_of(const SimOptions& options) {
  if (draws_rigid(options)) return drawn(options);
  if (!options.workload_csv) {
    return invalid_argument("\"" + options.workload + "\" is no trace: give rigid:KIND, or a file in the form of " +
                            "schedctl trace import");
  }
  return read_trace_csv({.text = *options.workload_csv, .file = options.workload});
}

}  // namespace tidepool::sim
