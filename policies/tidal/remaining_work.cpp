#include "policies/tidal/remaining_work.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::policies::tidal {
namespace {

constexpr double kStep = 1.05;
constexpr int kExact = 16;
constexpr double kGate = 12;      // levelling comes on between seven eighths and eight sevenths of the half
constexpr double kLevels = 16;    // levelling is told in so many parts
constexpr double kPlace = 0.618;  // by which the place where levelling is rounded moves on from class to class

double rounded(double count) {
  if (count <= kExact) return std::max(1.0, count);
  const double steps = std::floor(std::log2(count / kExact) * kExact);
  return kExact * std::exp2(steps / kExact);
}

}  // namespace

RemainingWork::Class RemainingWork::class_of(double seconds_left) {
  const double steps = std::log(std::max(1.0, seconds_left)) / std::log(kStep);
  return static_cast<Class>(std::min(steps, double(kClasses - 1)));
}

std::vector<Others> RemainingWork::counted() const {
  std::vector<Others> counted(kClasses);
  int count = 0;
  for (Class at = kClasses; at-- > 0;) {
    count += counts_[at];
    counted[at] = {.behind = rounded(count), .in_turn = rounded(count - std::max(0, turns_[at] - 1) / 2.0)};
  }
  return counted;
}

double RemainingWork::long_jobs() const {
  double jobs = 0;
  double share = 0;  // of the longest, of a job in this class; 0 = no job was met yet
  for (Class at = kClasses; at-- > 0;) {
    if (share == 0 && counts_[at] > 0) share = 1;
    jobs += share * counts_[at];
    share /= kStep;
  }
  return jobs;
}

std::vector<Others> RemainingWork::others(double long_jobs_half) const {
  const double gate = std::pow(long_jobs() / long_jobs_half, kGate);
  const double levels = std::isfinite(gate) ? kLevels * gate / (1 + gate) : kLevels;
  std::vector<Others> others = counted();
  for (Class at = 0; at < kClasses; ++at) {
    const double place = kPlace * double(at);
    others[at].levelling = std::floor(levels + place - std::floor(place)) / kLevels;
  }
  return others;
}

}  // namespace tidepool::policies::tidal
