#include "sim/workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/digest.hpp"
#include "base/rng.hpp"
#include "sim/text_lines.hpp"

namespace tidepool::sim {
namespace {

using Fields = std::vector<std::string_view>;

constexpr std::string_view kTraceHeader = "name,time,application,num_replicas,batch_size";
constexpr std::string_view kOwnHeader =
    "name,tenant,submit_s,priority,min,max,preferred,batch,samples,samples_per_second,sigma,kappa";

// Length of an application's jobs in GPU-hours. The classes are those of Qiao et al., "Pollux" (OSDI 2021), section
// 5.1: small 0-1, medium 1-10, large 10-100, extra large 100-1000; which application is in which is theirs too.
struct ApplicationClass {
  std::string_view application;
  double hours_low;
  double hours_high;
};
constexpr std::array kClasses{ApplicationClass{"cifar10", 0.1, 1}, ApplicationClass{"ncf", 0.1, 1},
                              ApplicationClass{"bert", 1, 10},     ApplicationClass{"deepspeech2", 1, 10},
                              ApplicationClass{"yolov3", 10, 100}, ApplicationClass{"imagenet", 100, 200}};
constexpr ApplicationClass kUnknownClass{"", 0.1, 10};

// Reads the fields of one line, remembering the first that is wrong.
class LineReader {
 public:
  LineReader(const Fields& fields, std::string_view header) : fields_(fields), names_(cells_of(header, ',')) {}

  std::string text(std::size_t i) {
    if (fields_[i].empty()) fail(i, "a text");
    return std::string(fields_[i]);
  }
  double real(std::size_t i, double low, double high) {
    const auto value = finite_number(fields_[i]);
    if (value && *value >= low && *value <= high) return *value;
    fail(i, "a number from " + short_text(low) + " to " + short_text(high));
    return low;
  }
  std::int64_t integer(std::size_t i, std::int64_t low, std::int64_t high) {
    const auto value = finite_number(fields_[i]);
    if (value && *value >= static_cast<double>(low) && *value <= static_cast<double>(high) &&
        *value == std::floor(*value)) {
      return static_cast<std::int64_t>(*value);
    }
    fail(i, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return low;
  }
  void refuse(std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void fail(std::size_t i, const std::string& wanted) {
    refuse(std::string(names_[i]) + " is \"" + std::string(fields_[i]) + "\"; it should be " + wanted);
  }

  const Fields& fields_;
  std::vector<std::string_view> names_;
  std::string problem_;
};

constexpr double kTenYearsSeconds = 10 * 365 * 86'400.0;
constexpr std::int64_t kSizeMax = 4'096;
constexpr std::int64_t kBatchMax = 1'000'000'000;

// A spec whose batch, elasticity and declared work agree with each other and with the truth.
core::JobSpec spec_of(std::string name, std::string tenant, core::ElasticSpec elastic, const GroundTruth& truth) {
  core::JobSpec spec;
  spec.name = std::move(name);
  spec.tenant = std::move(tenant);
  spec.elastic = std::move(elastic);
  spec.batch = {.global = truth.global_batch, .per_worker_max = truth.global_batch};
  spec.work_samples = truth.work_samples;
  spec.max_restarts = 1'000;
  return spec;
}

core::ElasticSpec elastic_of(int min, int max, int preferred) {
  core::ElasticSpec elastic;
  elastic.min = min;
  elastic.max = max;
  elastic.preferred = preferred;
  elastic.sizes = sizes_between(min, max);
  return elastic;
}

SimJob own_job(LineReader& line) {
  GroundTruth truth;
  const auto min = static_cast<int>(line.integer(4, 1, kSizeMax));
  const auto max = static_cast<int>(line.integer(5, 1, kSizeMax));
  const auto preferred = static_cast<int>(line.integer(6, 1, kSizeMax));
  truth.global_batch = line.integer(7, 1, kBatchMax);
  truth.work_samples = line.integer(8, 1, std::int64_t{1} << 52);
  truth.curve = {.lambda = line.real(9, 1e-6, 1e12), .sigma = line.real(10, 0, 1e6), .kappa = line.real(11, 0, 1e6)};
  if (min > preferred || preferred > max) line.refuse("sizes should be min <= preferred <= max");
  SimJob job;
  if (!line.problem().empty()) return job;
  job.arrives = Duration::from_seconds(line.real(2, 0, kTenYearsSeconds));
  job.spec = spec_of(line.text(0), line.text(1), elastic_of(min, max, preferred), truth);
  job.spec.priority = static_cast<int>(line.integer(3, -1'000'000, 1'000'000));
  job.truth = truth;
  job.application = job.spec.tenant;
  return job;
}

SimJob trace_job(LineReader& line, const CsvOptions& options) {
  SimJob job;
  job.arrives = Duration::from_seconds(line.real(1, 0, kTenYearsSeconds));
  job.application = line.text(2);
  const auto preferred = static_cast<int>(line.integer(3, 1, kSizeMax));
  const std::int64_t batch = line.integer(4, 1, kBatchMax);
  const std::string name = line.text(0);
  const auto known = std::find_if(kClasses.begin(), kClasses.end(),
                                  [&](const auto& entry) { return entry.application == job.application; });
  const ApplicationClass& of = known == kClasses.end() ? kUnknownClass : *known;
  // The curve belongs to the application, the length to the job; both only depend on names and seed.
  Rng curve_rng(Digest().mix(options.seed).mix(job.application).value());
  Rng length_rng(Digest().mix(options.seed).mix(job.application).mix(name).value());
  GroundTruth truth;
  truth.global_batch = batch;
  truth.curve = {.lambda = 100 + 900 * curve_rng.uniform(),
                 .sigma = 0.02 + 0.1 * curve_rng.uniform(),
                 .kappa = 0.004 * curve_rng.uniform()};
  const double hours = of.hours_low * std::pow(of.hours_high / of.hours_low, length_rng.uniform());
  truth.work_samples = std::max<std::int64_t>(batch, std::llround(hours * 3'600 * truth.curve.lambda));
  job.spec = spec_of(name, job.application.empty() ? "default" : job.application,
                     elastic_of(1, std::max(preferred, options.size_max), preferred), truth);
  job.truth = truth;
  return job;
}

// Which of the two forms a first line names, and where its columns stand; they may come in any order, with others.
struct WorkloadForm {
  std::string_view header;
  std::vector<std::size_t> at;
  std::size_t cells = 0;
};

std::optional<WorkloadForm> form_of(std::string_view line) {
  const std::vector<std::string_view> there = header_cells(line);
  for (const std::string_view header : {kTraceHeader, kOwnHeader}) {
    WorkloadForm form{.header = header, .at = {}, .cells = there.size()};
    for (const std::string_view column : cells_of(header)) {
      if (const auto at = column_at(there, column)) form.at.push_back(*at);
    }
    if (form.at.size() == cells_of(header).size()) return form;
  }
  return std::nullopt;
}

// Where a first line is of neither form: what keeps it from being that of a trace.
std::string near_trace(std::string_view line) {
  const std::vector<std::string_view> there = header_cells(line);
  std::string missing;
  bool some = false;
  for (const std::string_view column : cells_of(kNeededOfTrace)) {
    const bool found = column_at(there, column).has_value();
    some = some || found;
    if (!found) missing += (missing.empty() ? "" : " and ") + std::string(column);
  }
  std::string text = some ? ", of which it lacks " + missing : "";
  if (line.find('"') != std::string_view::npos) text += "; CSV in quotes is not read: write it without";
  return text;
}

Result<Fields> fields_of(std::string_view row, const WorkloadForm& form, const std::string& place) {
  const std::vector<std::string_view> cells = cells_of(row);
  if (cells.size() != form.cells || row.find('"') != std::string_view::npos) {
    return invalid_argument(place + "it should hold " + std::to_string(form.cells) +
                            " fields without quotes, as the first line");
  }
  Fields fields;
  for (const std::size_t at : form.at) fields.push_back(trimmed(cells[at]));
  return fields;
}

}  // namespace

std::vector<int> sizes_between(int min, int max) {
  std::vector<int> sizes;
  for (int size = min; size < max; size += std::max(1, size / 8)) sizes.push_back(size);
  sizes.push_back(max);
  return sizes;
}

Result<Workload> read_workload_csv(std::string_view text, const CsvOptions& options) {
  Workload workload{.name = options.name};
  std::optional<WorkloadForm> form;
  std::set<std::string> names;
  for (int line_number = 1; !text.empty(); ++line_number) {
    const std::string_view row = take_line(text);
    if (row.empty()) continue;
    const std::string place = options.name + " line " + std::to_string(line_number) + ": ";
    if (!form) {
      form = form_of(row);
      if (form) continue;
      return invalid_argument(place + "the first line should be \"" + std::string(kTraceHeader) + "\" or \"" +
                              std::string(kOwnHeader) + "\", or that of a trace, which has at least " +
                              std::string(kNeededOfTrace) + near_trace(row) +
                              "; what another scheduler wrote becomes one by: schedctl trace import");
    }
    const auto fields = fields_of(row, *form, place);
    if (!fields) return fields.error();
    LineReader line(*fields, form->header);
    SimJob job = form->header == kOwnHeader ? own_job(line) : trace_job(line, options);
    if (!names.insert(job.spec.name).second) line.refuse("the name \"" + job.spec.name + "\" is used twice");
    if (!line.problem().empty()) return invalid_argument(place + line.problem());
    workload.jobs.push_back(std::move(job));
  }
  if (workload.jobs.empty()) return invalid_argument(options.name + " holds no job");
  std::sort(workload.jobs.begin(), workload.jobs.end(), [](const SimJob& a, const SimJob& b) {
    return a.arrives != b.arrives ? a.arrives < b.arrives : a.spec.name < b.spec.name;
  });
  return workload;
}

Workload generate_workload(const GeneratorOptions& options) {
  Rng rng(options.seed);
  Workload workload{.name = "generated:" + std::to_string(options.seed)};
  Duration at;
  for (int i = 0; i < options.jobs; ++i) {
    at += Duration::from_seconds(rng.exponential(options.mean_interarrival.to_seconds()));
    GroundTruth truth;
    truth.curve = {.lambda = 100 * std::pow(100, rng.uniform()),
                   .sigma = 0.3 * rng.uniform() * rng.uniform(),
                   .kappa = 0.02 * rng.uniform() * rng.uniform()};
    truth.global_batch = std::int64_t{64} << rng.below(5);
    // Log-normal with sigma 1: the mean is exp(1/2) times the median.
    const double seconds = options.mean_length.to_seconds() * std::exp(rng.normal() - 0.5);
    truth.work_samples = std::max(truth.global_batch, static_cast<std::int64_t>(seconds * truth.curve.lambda));
    truth.boot = Duration::from_seconds(5 + 10 * rng.uniform());
    const int max = static_cast<int>(rng.between(1, options.size_max));
    const int min = rng.chance(0.3) ? std::max(1, max / 4) : 1;
    const int preferred = static_cast<int>(rng.between(min, std::max(min, (min + max) / 2)));
    SimJob job{.arrives = at, .truth = truth, .application = "generated"};
    job.spec =
        spec_of("job-" + std::to_string(i + 1), "tenant-" + std::to_string(1 + rng.between(0, options.tenants - 1)),
                elastic_of(min, max, preferred), truth);
    job.spec.priority = rng.chance(0.1) ? 10 : 0;
    workload.jobs.push_back(std::move(job));
  }
  return workload;
}

}  // namespace tidepool::sim
