#include "schedulerd/live/store/metric_rows.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace tidepool::live {
namespace {

std::string to_text(const std::vector<double>& numbers) {
  return canonical_json(nlohmann::json(numbers));
}

}  // namespace

Status MetricRows::prepare(Database& database) {
  const std::pair<Statement*, const char*> texts[] = {
      {&add_, "INSERT INTO job_metrics VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)"},
      {&next_ordinal_, "SELECT coalesce(max(ordinal),-1)+1 FROM job_metrics WHERE job=?1"},
      {&thin_, "DELETE FROM job_metrics WHERE job=?1 AND ordinal<?2 AND ordinal%?3<>0"},
  };
  return database.prepare_all(texts);
}

Status MetricRows::add(JobId job, const MetricPoint& point) {
  auto [place, is_new] = ordinals_.try_emplace(job, 0);
  if (is_new) {
    TP_TRY(next_ordinal_.each([&](const Row& row) { place->second = row.integer(0); }, job.number()));
  }
  TP_TRY(add_.run(job.number(), place->second++, point.at.count_us(), point.step, point.size, point.generation,
                  point.samples_per_second, point.step_ms, point.loss, to_text(point.compute_ms), point.global_batch,
                  point.noise_scale));
  const std::int64_t half = std::max<std::int64_t>(1, points_max_ / 2);
  return place->second % half == 0 ? thin(job, place->second) : ok_status();
}

// Old points stay at every 2^level-th ordinal.
Status MetricRows::thin(JobId job, std::int64_t next) {
  const auto excess = static_cast<std::uint64_t>(next / points_max_);
  if (excess == 0) return ok_status();
  const auto stride = static_cast<std::int64_t>(std::bit_ceil(excess + 1));
  return thin_.run(job.number(), next - points_max_ / 2, stride);
}

}  // namespace tidepool::live
