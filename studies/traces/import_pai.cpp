// Alibaba's GPU trace of 2020 (Weng et al., "MLaaS in the Wild", NSDI 2022): pai_task_table, a task of a job a line.
// plan_gpu is in percent of a GPU for each of its instances. A task's time of submission is not published; its start
// stands for it.
#include <cmath>
#include <string_view>

#include "sim/text_lines.hpp"
#include "studies/traces/importers.hpp"
#include "studies/traces/trace_rows.hpp"

namespace tidepool::sim {
namespace {

struct PaiRow {
  enum Column : std::size_t { kJob, kTask, kInstances, kStatus, kStart, kEnd, kGpu, kType };
  static TraceJob read(TraceRow& row);
};

TraceJob PaiRow::read(TraceRow& row) {
  const double percent = row.empty(kGpu) ? 0 : row.number(kGpu, 0, 100.0 * kTraceGpusMax);
  if (percent == 0) row.leave_out("asks for no GPU");
  if (row.empty(kStart) || row.empty(kEnd)) row.leave_out("has no start or no end");
  TraceJob job{.name = row.text(kJob) + "/" + row.text(kTask), .gpu_type = row.text(kType)};
  if (!row.left_out().empty()) return job;
  const auto instances = row.whole(kInstances, 1, kTraceGpusMax);
  const auto each = static_cast<std::int64_t>(std::ceil(percent / 100));
  job.gpus = static_cast<int>(std::min<std::int64_t>(instances * each, kTraceGpusMax));
  job.gpu_share = percent / 100 / static_cast<double>(each);
  job.submit_s = row.time(kStart);
  job.duration_s = row.time(kEnd) - job.submit_s;
  if (job.duration_s <= 0) row.leave_out("never ran");
  job.status = status_of(row.raw(kStatus));
  return job;
}

// As it is published: the names of its columns lie in a file of their own (pai_task_table.header).
constexpr std::string_view kColumns =
    "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type";

}  // namespace

Result<Trace> import_pai(const TraceText& input) {
  TraceColumns columns{
      .names = {"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_gpu", "gpu_type"}};
  std::string_view rest = input.text;
  if (take_line(rest).find("job_name") == std::string_view::npos) columns.named_by = kColumns;
  return read_trace_rows(input, columns, PaiRow::read);
}

}  // namespace tidepool::sim
