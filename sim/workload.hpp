// A workload: which jobs arrive when, what they request and their true properties. Read from CSV text or generated from
// a seed; the caller reads the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/state/job_spec.hpp"
#include "sim/job_model.hpp"

namespace tidepool::sim {

struct SimJob {
  Duration arrives;  // after the start of the run
  core::JobSpec spec;
  GroundTruth truth;
  std::string application;  // group in reports; "generated" if none
  std::string user;         // who submits it; empty = unknown
};

struct Workload {
  std::string name;
  std::vector<SimJob> jobs;        // by arrival
  std::vector<std::string> notes;  // what its source requests and these jobs do not get, as sentences
};

struct GeneratorOptions {
  std::uint64_t seed = 1;
  int jobs = 100;                                      // >= 1
  Duration mean_interarrival = Duration::seconds(60);  // exponential
  int size_max = 16;                                   // largest `elastic.max` drawn
  Duration mean_length = Duration::seconds(3'600);     // mean time at one worker; log-normal, long tail
  int tenants = 4;
};

// Sizes, curves, lengths, priorities and tenants are drawn independently for each job.
[[nodiscard]] Workload generate_workload(const GeneratorOptions& options);

// The columns that the first line of a trace has at least (studies/traces/trace.hpp); a trace is not a workload, and
// the error says so.
inline constexpr std::string_view kNeededOfTrace = "submit_s,gpus,duration_s";

// Reads one of two CSV forms, recognized by the columns of the first line, in any order; times in seconds, no quoted
// fields:
//   name,time,application,num_replicas,batch_size
//     The form of published traces. An application's curve and length are drawn from a class of its size (see
//     workload.cpp), the same for the same `seed`; num_replicas is the preferred size, at most `size_max` is tried.
//   name,tenant,submit_s,priority,min,max,preferred,batch,samples,samples_per_second,sigma,kappa
//     Tidepool's own form: the true properties are given, with the parameters of policies/models/usl_curve.hpp.
// An error names the file, the line and what it should hold.
struct CsvOptions {
  std::string name;  // of the file; printed as the workload
  std::uint64_t seed = 1;
  int size_max = 16;
};
[[nodiscard]] Result<Workload> read_workload_csv(std::string_view text, const CsvOptions& options);

// The sizes between min and max that jobs of a workload may take: all of them up to 8, then steps of an eighth.
[[nodiscard]] std::vector<int> sizes_between(int min, int max);

}  // namespace tidepool::sim
