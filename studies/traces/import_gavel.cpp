// The traces of Gavel (Narayanan et al., OSDI 2020): tab separated, without a first line. They give steps and no
// durations; those follow from the table of speeds published with them, for one type of GPU.
#include <nlohmann/json.hpp>

#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

struct GavelRow {
  enum Column : std::size_t { kType, kCommand, kFolder, kArgument, kNeedsData, kSteps, kGpus, kWeight, kSlo, kArrival };
  static TraceJob read(TraceRow& row, const json& of_type, const std::string& gpu_type);
};

// Steps a second of a job alone; 0 = the table does not tell.
double speed_of(const json& of_type, const std::string& job_type, std::int64_t gpus) {
  const auto entry = of_type.find("('" + job_type + "', " + std::to_string(gpus) + ")");
  const bool alone = entry != of_type.end() && entry->is_object() && entry->contains("null");
  return alone && entry->at("null").is_number() ? entry->at("null").get<double>() : 0;
}

TraceJob GavelRow::read(TraceRow& row, const json& of_type, const std::string& gpu_type) {
  TraceJob job{.name = "job-" + std::to_string(row.line() - 1), .application = row.text(kType)};
  job.gpus = static_cast<int>(row.whole(kGpus, 1, kTraceGpusMax));
  job.steps = row.whole(kSteps, 1, std::int64_t{1} << 52);
  job.submit_s = row.number(kArrival, 0, kTraceSecondsMax);
  const double slo = row.number(kSlo, -1, kTraceSecondsMax);
  const double speed = speed_of(of_type, std::string(row.raw(kType)), job.gpus);
  if (!(speed > 0)) {
    row.refuse("the table has no speed of \"" + job.application + "\" on " + std::to_string(job.gpus) + " x " +
               gpu_type);
    return job;
  }
  job.duration_s = static_cast<double>(job.steps) / speed;
  if (slo > 0) job.deadline_s = job.submit_s + slo * job.duration_s;
  return job;
}

}  // namespace

Result<Trace> import_gavel(const TraceText& input) {
  if (input.speeds.empty()) {
    return invalid_argument(
        "a Gavel trace tells steps and no durations: give --speeds with its JSON table of steps a second");
  }
  const json table = json::parse(input.speeds, nullptr, false);
  if (!table.is_object()) {
    return invalid_argument("the file of --speeds is no JSON object with a table of steps a second by GPU type");
  }
  const std::string type = input.gpu_type.empty() ? "v100" : input.gpu_type;
  if (!table.contains(type) || !table.at(type).is_object()) {
    return invalid_argument("the table of speeds knows no GPU type \"" + type + "\"; choose one of it with --gpu-type");
  }
  const TraceColumns columns{.names = {"job type", "command", "folder", "steps argument", "needs data", "steps",
                                       "workers", "weight", "SLO", "arrival"},
                             .separator = '\t',
                             .header = false};
  return read_trace_rows(input, columns, [&](TraceRow& row) { return GavelRow::read(row, table.at(type), type); });
}

}  // namespace tidepool::sim
