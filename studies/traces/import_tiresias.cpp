// The job files of Tiresias' simulator (Gu et al., NSDI 2019).
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

struct TiresiasRow {
  enum Column : std::size_t { kId, kGpus, kSubmit, kSteps, kModel, kDuration };
  static TraceJob read(TraceRow& row);
};

TraceJob TiresiasRow::read(TraceRow& row) {
  return {.name = row.text(kId),
          .submit_s = row.time(kSubmit),
          .gpus = static_cast<int>(row.whole(kGpus, 1, kTraceGpusMax)),
          .duration_s = row.number(kDuration, 0, kTraceSecondsMax),
          .application = row.text(kModel),
          .steps = row.whole(kSteps, 1, std::int64_t{1} << 52)};
}

}  // namespace

Result<Trace> import_tiresias(const TraceText& input) {
  return read_trace_rows(input, {.names = {"job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration"}},
                         TiresiasRow::read);
}

}  // namespace tidepool::sim
