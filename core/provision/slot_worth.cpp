#include "core/provision/slot_worth.hpp"

#include <algorithm>
#include <cstdlib>

namespace tidepool::core {
namespace {

constexpr double kContention = 0.05;

double law(int workers) {
  return workers / (1 + kContention * (workers - 1));
}

// In samples a second if any size was measured, else in workers.
double speed(const Job& job, int workers) {
  if (workers == 0) return 0;
  const SizeRecord* nearest = nullptr;
  int measured = 0;
  for (const auto& [size, record] : job.measurements.sizes) {
    if (record.samples_per_second <= 0 || size < 1) continue;
    if (nearest != nullptr && std::abs(size - workers) >= std::abs(measured - workers)) continue;
    nearest = &record;
    measured = size;
  }
  return nearest == nullptr ? law(workers) : nearest->samples_per_second * law(workers) / law(measured);
}

}  // namespace

double use_of_more(const Job& job, int from, int to) {
  const int least = std::max(1, job.spec.elastic.min);
  const double each = speed(job, least) / least;
  if (each <= 0) return 0;
  return std::max(0.0, (speed(job, to) - speed(job, from)) / (to - from) / each);
}

}  // namespace tidepool::core
