// The traces of ElasticFlow (Gu et al., ASPLOS 2023) and of the ITP clusters published with it. Submission times and
// durations are recorded ones; models, iterations and deadlines were drawn by the authors.
#include "studies/traces/elasticflow_columns.hpp"
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

struct ElasticFlowRow {
  enum Column : std::size_t { kId, kSubmit, kSteps, kModel, kDeadline, kBatch, kGpus, kDuration };
  static TraceJob read(TraceRow& row);
};

TraceJob ElasticFlowRow::read(TraceRow& row) {
  return {.name = row.text(kId),
          .submit_s = row.time(kSubmit),
          .gpus = static_cast<int>(row.whole(kGpus, 1, kTraceGpusMax)),
          .duration_s = row.number(kDuration, 0, kTraceSecondsMax),
          .deadline_s = row.time(kDeadline),
          .application = row.text(kModel),
          .batch = row.whole(kBatch, 1, 1'000'000'000),
          .steps = row.whole(kSteps, 1, std::int64_t{1} << 52)};
}

}  // namespace

Result<Trace> import_elasticflow(const TraceText& input) {
  return read_trace_rows(input, {.names = {kElasticFlowColumns.begin(), kElasticFlowColumns.end()}},
                         ElasticFlowRow::read);
}

}  // namespace tidepool::sim
