// THE table of trace formats that can be read. A new format is one file beside this one and one line here; nothing else
// lists them. A reader takes the text of one file and gives the jobs in it that use a GPU; it is pure.
#pragma once

#include <array>
#include <string_view>

#include "studies/traces/trace.hpp"

namespace tidepool::sim {

// One function per format, each in a file named like it (import_helios.cpp).
[[nodiscard]] Result<Trace> import_elasticflow(const TraceText& input);
[[nodiscard]] Result<Trace> import_gavel(const TraceText& input);
[[nodiscard]] Result<Trace> import_helios(const TraceText& input);
[[nodiscard]] Result<Trace> import_journal(const TraceText& input);
[[nodiscard]] Result<Trace> import_openb(const TraceText& input);
[[nodiscard]] Result<Trace> import_pai(const TraceText& input);
[[nodiscard]] Result<Trace> import_philly(const TraceText& input);
[[nodiscard]] Result<Trace> import_sacct(const TraceText& input);
[[nodiscard]] Result<Trace> import_tiresias(const TraceText& input);

struct TraceFormat {
  std::string_view name;
  std::string_view summary;  // what the file is
  Result<Trace> (*read)(const TraceText& input);
};

inline constexpr std::array kTraceFormats{
    TraceFormat{"elasticflow", "job_id,submission_time,...,num_gpu,duration with deadlines (ITP, ElasticFlow)",
                import_elasticflow},
    TraceFormat{"gavel", "Gavel's *.trace, tab separated; durations from --speeds FILE.json", import_gavel},
    TraceFormat{"helios", "cluster_log.csv of SenseTime's Helios", import_helios},
    TraceFormat{"journal", "a daemon's events, one JSON object a line (schedctl events --limit 100000 -o json)",
                import_journal},
    TraceFormat{"openb", "openb_pod_list_*.csv of Alibaba's 2023 GPU trace", import_openb},
    TraceFormat{"pai", "pai_task_table.csv of Alibaba's 2020 GPU trace, with or without a header line", import_pai},
    TraceFormat{"philly", "Microsoft Philly: cluster_job_log (JSON), or the extract timestamp,duration,num_gpus",
                import_philly},
    TraceFormat{"sacct", "Slurm: sacct -a -X -P -o JobID,Submit,Start,End,State,AllocTRES,User,Account", import_sacct},
    TraceFormat{"tidepool", "Tidepool's own form, as `trace import` and `trace export` write it", read_trace_csv},
    TraceFormat{"tiresias", "Tiresias' simulator: job_id,num_gpu,submit_time,iterations,...", import_tiresias},
};

// An unknown name is an error that lists the known ones.
[[nodiscard]] Result<TraceFormat> find_trace_format(std::string_view name);

}  // namespace tidepool::sim
