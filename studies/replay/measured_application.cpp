#include "studies/replay/measured_application.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/number_text.hpp"
#include "studies/replay/csv_columns.hpp"

namespace tidepool::sim {
namespace {

constexpr std::string_view kValidation = "validation-";

// Numbers of one line from this cell on, in the order of its cells.
Result<std::vector<double>> numbers(const CsvRow& row, std::size_t first, const std::string& file) {
  std::vector<double> found;
  for (std::size_t cell = first; cell < row.cells.size(); ++cell) {
    const auto number = csv_number(row.cells[cell], row.line, file);
    if (!number) return number.error();
    found.push_back(*number);
  }
  return found;
}

// The length of a step, and the part of it that synchronizes, from this cell on.
Result<policies::StepTime> step_time(const CsvRow& row, std::size_t first, const std::string& file) {
  const auto times = numbers(row, first, file);
  if (!times) return times.error();
  const policies::StepTime time{.step_s = (*times)[0], .sync_s = (*times)[1]};
  if (time.step_s > 0 && time.sync_s >= 0) return time;
  return invalid_argument(file + " line " + std::to_string(row.line) +
                          ": step_time must be above 0, and sync_time not below 0");
}

Result<std::vector<policies::PlacementMeasurement>> read_placements(std::string_view text, const std::string& file) {
  const auto rows = read_csv_columns(text, {"placement", "local_bsz", "step_time", "sync_time"}, file);
  if (!rows) return rows.error();
  std::vector<policies::PlacementMeasurement> found;
  for (const CsvRow& row : *rows) {
    policies::PlacementMeasurement measurement;
    const std::string_view digits = row.cells[0];
    if (digits.empty() || digits.find_first_not_of("123456789") != std::string_view::npos) {
      return invalid_argument(file + " line " + std::to_string(row.line) +
                              ": a placement is one digit from 1 to 9 per node");
    }
    for (const char digit : digits) measurement.slots.push_back(digit - '0');
    const auto local_batch = csv_positive(row.cells[1], row.line, file);
    if (!local_batch) return local_batch.error();
    const auto time = step_time(row, 2, file);
    if (!time) return time.error();
    measurement.local_batch = *local_batch;
    measurement.time = *time;
    found.push_back(std::move(measurement));
  }
  return found;
}

Result<std::vector<policies::ScaleMeasurement>> read_scales(std::string_view text, const std::string& file) {
  const auto rows = read_csv_columns(text, {"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"}, file);
  if (!rows) return rows.error();
  std::vector<policies::ScaleMeasurement> found;
  for (const CsvRow& row : *rows) {
    std::array<int, 3> counts{};
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
      const auto count = csv_positive(row.cells[cell], row.line, file);
      if (!count) return count.error();
      counts[cell] = *count;
    }
    const auto time = step_time(row, counts.size(), file);
    if (!time) return time.error();
    found.push_back({.nodes = counts[0], .size = counts[1], .local_batch = counts[2], .time = *time});
  }
  return found;
}

Result<std::vector<EpochMeasurement>> read_epochs(std::string_view text, const std::string& file) {
  const auto rows = read_csv_columns(text, {"progress", "iteration", "grad_sqr", "grad_var"}, file);
  if (!rows) return rows.error();
  std::vector<EpochMeasurement> found;
  for (const CsvRow& row : *rows) {
    const auto values = numbers(row, 0, file);
    if (!values) return values.error();
    const EpochMeasurement epoch{
        .progress = (*values)[0], .iteration = (*values)[1], .gradient = {.sqr = (*values)[2], .var = (*values)[3]}};
    if (!(epoch.progress > (found.empty() ? 0 : found.back().progress))) {
      return invalid_argument(file + " line " + std::to_string(row.line) +
                              ": progress must be above 0, and above that of the epoch before it");
    }
    if (!(epoch.gradient.sqr >= 0 && epoch.gradient.var >= 0 && epoch.gradient.sqr + epoch.gradient.var > 0)) {
      return invalid_argument(file + " line " + std::to_string(row.line) +
                              ": grad_sqr and grad_var must not be below 0, nor both of them 0");
    }
    found.push_back(epoch);
  }
  if (found.empty()) return invalid_argument(file + " holds no epoch");
  return found;
}

// The number in "validation-640.csv"; nothing for other names.
std::optional<int> batch_of(std::string_view file) {
  if (!file.starts_with(kValidation) || !file.ends_with(".csv")) return std::nullopt;
  file.remove_prefix(kValidation.size());
  file.remove_suffix(std::string_view(".csv").size());
  const auto batch = parse_number<int>(file);
  return batch && *batch >= 1 ? batch : std::nullopt;
}

Result<policies::MeasuredProfile> read_profile(const std::string& name, const ApplicationFiles& files) {
  const auto placements = files.find("placements.csv");
  if (placements == files.end()) return invalid_argument("the application " + name + " has no placements.csv");
  const auto rows = read_placements(placements->second, name + "/placements.csv");
  if (!rows) return rows.error();
  std::vector<policies::ScaleMeasurement> scales;
  if (const auto found = files.find("scalability.csv"); found != files.end()) {
    auto read = read_scales(found->second, name + "/scalability.csv");
    if (!read) return read.error();
    scales = *std::move(read);
  }
  auto profile = policies::MeasuredProfile::from(*rows, scales);
  if (!profile) return Error{profile.error().code, "the application " + name + ": " + profile.error().message};
  return profile;
}

}  // namespace

Result<MeasuredApplication> MeasuredApplication::read(const std::string& name, const ApplicationFiles& files,
                                                      int local_batch_cap) {
  auto profile = read_profile(name, files);
  if (!profile) return profile.error();
  MeasuredApplication application(name, *std::move(profile));
  application.local_batch_max_ = application.profile_.local_batch_max();
  if (local_batch_cap > 0) application.local_batch_max_ = std::min(application.local_batch_max_, local_batch_cap);
  application.epoch_count_ = std::numeric_limits<int>::max();
  for (const auto& [file, text] : files) {
    const auto batch = batch_of(file);
    if (!batch) continue;
    auto epochs = read_epochs(text, name + "/" + file);
    if (!epochs) return epochs.error();
    application.epoch_count_ = std::min(application.epoch_count_, static_cast<int>(epochs->size()));
    application.epochs_.emplace(*batch, *std::move(epochs));
  }
  if (application.epochs_.empty()) {
    return invalid_argument("the application " + name + " has no validation-<batch>.csv");
  }
  return application;
}

double MeasuredApplication::progress_after(int epoch) const {
  TP_CHECK(epoch >= 0 && epoch <= epoch_count_, "an epoch is one that was measured");
  if (epoch == 0) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [batch, rows] : epochs_) least = std::min(least, rows[static_cast<std::size_t>(epoch) - 1].progress);
  return least;
}

template <class Read>
double MeasuredApplication::interpolate(int batch, int epoch, Read read) const {
  TP_CHECK(batch >= initial_batch() && batch <= batch_max(), "a batch size lies between measured ones");
  TP_CHECK(epoch >= 0 && epoch < epoch_count_, "an epoch is one that was measured");
  const auto above = epochs_.lower_bound(batch);
  const auto row = static_cast<std::size_t>(epoch);
  const double high = read(above->second[row]);
  if (above->first == batch) return high;
  const auto below = std::prev(above);
  const double low = read(below->second[row]);
  return (double(batch - below->first) * high + double(above->first - batch) * low) /
         double(above->first - below->first);
}

double MeasuredApplication::iterations(int batch, int epoch) const {
  return interpolate(batch, epoch, [](const EpochMeasurement& row) { return row.iteration; });
}

GradientStatistics MeasuredApplication::gradient(int batch, int epoch) const {
  return {.sqr = interpolate(batch, epoch, [](const EpochMeasurement& row) { return row.gradient.sqr; }),
          .var = interpolate(batch, epoch, [](const EpochMeasurement& row) { return row.gradient.var; })};
}

}  // namespace tidepool::sim
