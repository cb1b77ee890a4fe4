// Helios (Hu et al., SC 2021): cluster_log.csv, one Slurm job a line. `duration` is end minus start in seconds.
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

struct HeliosRow {
  enum Column : std::size_t { kId, kUser, kCluster, kGpus, kState, kSubmit, kDuration };
  static TraceJob read(TraceRow& row);
};

TraceJob HeliosRow::read(TraceRow& row) {
  const auto gpus = static_cast<int>(row.whole(kGpus, 0, kTraceGpusMax));
  const double duration = row.number(kDuration, 0, kTraceSecondsMax);
  if (gpus == 0) row.leave_out("asks for no GPU");
  if (duration == 0) row.leave_out("never ran");
  return {.name = row.text(kId),
          .tenant = row.text(kCluster),
          .user = row.text(kUser),
          .submit_s = row.time(kSubmit),
          .gpus = gpus,
          .duration_s = duration,
          .status = status_of(row.raw(kState))};
}

}  // namespace

Result<Trace> import_helios(const TraceText& input) {
  return read_trace_rows(input, {.names = {"job_id", "user", "vc", "gpu_num", "state", "submit_time", "duration"}},
                         HeliosRow::read);
}

}  // namespace tidepool::sim
