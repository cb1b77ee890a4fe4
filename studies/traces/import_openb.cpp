// Alibaba's GPU trace of 2023 (Weng et al., USENIX ATC 2023): pods with parts of a GPU in thousandths. A pod runs from
// its scheduling to its deletion; gpu_spec may name several types, apart by '|'.
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

struct OpenbRow {
  enum Column : std::size_t { kName, kGpus, kMilli, kSpec, kClass, kPhase, kCreated, kDeleted, kScheduled };
  static TraceJob read(TraceRow& row);
};

TraceJob OpenbRow::read(TraceRow& row) {
  const auto gpus = static_cast<int>(row.whole(kGpus, 0, kTraceGpusMax));
  const auto milli = row.whole(kMilli, 0, 1'000);
  if (gpus == 0 || milli == 0) row.leave_out("asks for no GPU");
  if (row.empty(kScheduled) || row.empty(kDeleted)) row.leave_out("never ran");
  TraceJob job{.name = row.text(kName), .tenant = row.text(kClass), .gpus = gpus, .gpu_type = row.text(kSpec)};
  if (!row.left_out().empty()) return job;
  job.gpu_share = static_cast<double>(milli) / 1'000;
  job.submit_s = row.time(kCreated);
  job.duration_s = row.time(kDeleted) - row.time(kScheduled);
  if (job.duration_s <= 0) row.leave_out("never ran");
  job.status = status_of(row.raw(kPhase));
  return job;
}

}  // namespace

Result<Trace> import_openb(const TraceText& input) {
  return read_trace_rows(input,
                         {.names = {"name", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time",
                                    "deletion_time", "scheduled_time"}},
                         OpenbRow::read);
}

}  // namespace tidepool::sim
