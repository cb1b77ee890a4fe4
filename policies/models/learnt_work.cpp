#include "policies/models/learnt_work.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

// Of the longest job so far: what is expected at least of one that has outlived them all.
constexpr double kBeyond = 0.1;
// Totals that differ by less are the same; a job is not expected to end within a rounding error.
constexpr double kSame = 1e-3;
// Paces of kin differ by no more than this factor: fits move by less while they learn, most programs differ by more.
constexpr double kAlike = 1.5;

}  // namespace

LearntWork::LearntWork(std::vector<double> totals, double farthest) : farthest_(farthest), totals_(std::move(totals)) {
  std::sort(totals_.begin(), totals_.end());
  TP_CHECK(totals_.empty() || totals_.front() > 0, "a job that has ended has done work");
  sum_up();
}

void LearntWork::reached(double done) {
  farthest_ = std::max(farthest_, done);
}

void LearntWork::ended(double total) {
  TP_CHECK(total > 0, "a job that has ended has done work");
  totals_.insert(std::upper_bound(totals_.begin(), totals_.end(), total), total);
  sum_up();
}

void LearntWork::sum_up() {
  sums_.assign(totals_.size(), 0);
  double sum = 0;
  for (std::size_t i = totals_.size(); i-- > 0;) sums_[i] = sum += totals_[i];
}

std::optional<double> LearntWork::left(double done) const {
  if (totals_.empty() && farthest_ <= 0) return std::nullopt;
  if (totals_.empty()) return std::max(2 * farthest_ - done, done);
  const auto longer = std::upper_bound(totals_.begin(), totals_.end(), done * (1 + kSame));
  if (longer == totals_.end()) return std::max(done - totals_.back(), kBeyond * totals_.back());
  const auto from = static_cast<std::size_t>(longer - totals_.begin());
  return sums_[from] / static_cast<double>(totals_.size() - from) - done;
}

std::optional<double> KinWork::left(double pace_s, double samples) const {
  std::vector<double> totals;
  double farthest = 0;
  for (const auto& [job, told] : told_) {
    if (told.pace_s > pace_s * kAlike || pace_s > told.pace_s * kAlike) continue;
    farthest = std::max(farthest, told.samples);
    if (told.ended) totals.push_back(told.samples);
  }
  return LearntWork(std::move(totals), farthest).left(samples);
}

}  // namespace tidepool::policies
