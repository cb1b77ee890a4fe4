#include "policies/tidal/remaining_work.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::policies::tidal {
namespace {

constexpr double kStep = 1.05;
constexpr int kExact = 16;
constexpr double kGate = 12;      // levelling comes on between seven eighths and eight sevenths of the half
constexpr double kLevels = 16;    // resolution of levelling
constexpr double kPlace = 0.618;  // by which the place where levelling is rounded moves on from class to class

// Of the longest job, by how many classes below it another is.
const std::vector<double>& shares() {
  static const std::vector<double> shares = [] {
    std::vector<double> found{1};
    while (found.size() < RemainingWork::kClasses) found.push_back(found.back() / kStep);
    return found;
  }();
  return shares;
}

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

std::vector<RemainingWork::OthersOfClass> RemainingWork::counted() const {
  std::vector<OthersOfClass> counted;
  counted.reserve(occupied_.size());
  int count = 0;
  for (const Class at : occupied_) {
    count += counts_[at];
    const double in_turn = rounded(count - std::max(0, turns_[at] - 1) / 2.0);
    counted.push_back({.length = at, .others = {.behind = rounded(count), .in_turn = in_turn}});
  }
  return counted;
}

double RemainingWork::long_jobs() const {
  double jobs = 0;
  for (const Class at : occupied_) jobs += shares()[*occupied_.begin() - at] * counts_[at];
  return jobs;
}

void RemainingWork::count(Class of, bool in_turn, int by) {
  counts_.at(of) += by;
  if (in_turn) turns_.at(of) += by;
  if (counts_[of] == 0) occupied_.erase(of);
  if (counts_[of] == by) occupied_.insert(of);
}

std::vector<RemainingWork::OthersOfClass> RemainingWork::others(double long_jobs_half) const {
  const double gate = std::pow(long_jobs() / long_jobs_half, kGate);
  const double levels = std::isfinite(gate) ? kLevels * gate / (1 + gate) : kLevels;
  std::vector<OthersOfClass> classes = counted();
  for (auto& [length, others] : classes) {
    const double place = kPlace * double(length);
    others.levelling = std::floor(levels + place - std::floor(place)) / kLevels;
  }
  return classes;
}

}  // namespace tidepool::policies::tidal
