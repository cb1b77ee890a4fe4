#include "policies/models/learnt_work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

// Of the longest job so far: what is expected at least of one that has outlived them all.
constexpr double kBeyond = 0.1;
// Totals that differ by less are the same; a job is not expected to end within a rounding error.
constexpr double kSame = 1e-3;
// Between two classes of paces: fits move by less while they learn, most programs differ by more.
constexpr double kAlike = 1.25;
// Numbers of jobs are distinguished to this many binary digits.
constexpr int kDigits = 4;
// Two jobs took about as much; this many pairs show whether that is the rule.
constexpr double kMates = 1.5;
constexpr std::size_t kPairs = 8;

// How many of this many jobs count.
std::size_t counted_of(std::size_t jobs) {
  const int dropped = std::max(0, static_cast<int>(std::bit_width(jobs)) - kDigits);
  return jobs >> dropped << dropped;
}

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

SimilarJobWork::Class SimilarJobWork::class_of(double pace_s) {
  TP_CHECK(pace_s > 0 && std::isfinite(pace_s), "a job that was measured takes time for a sample");
  return static_cast<Class>(std::floor(std::log(pace_s) / std::log(kAlike)));
}

void SimilarJobWork::reached(std::uint64_t job, Class pace, double samples) {
  TP_CHECK(samples > 0, "a job that has come anywhere has done work");
  const Reach now{.pace = pace, .doublings = static_cast<int>(std::floor(2 * std::log2(samples)))};
  const auto [known, is_new] = reach_.try_emplace(JobId(job), now);
  const Reach before = std::exchange(known->second, now);
  if (!is_new && before.pace == now.pace && before.doublings == now.doublings) return;
  put(now, true);
  if (!is_new) put(before, false);
}

void SimilarJobWork::withdraw(std::uint64_t job) {
  const auto known = reach_.find(JobId(job));
  if (known == reach_.end()) return;
  put(known->second, false);
  reach_.erase(known);
}

std::optional<int> SimilarJobWork::farthest(Class pace) const {
  const auto in_class = reached_.find(pace);
  return in_class == reached_.end() ? std::nullopt : std::optional(in_class->second.rbegin()->first);
}

// The farthest counts, and only where no kin have ended.
void SimilarJobWork::put(const Reach& reach, bool is_there) {
  const std::optional<int> before = farthest(reach.pace);
  auto& in_class = reached_[reach.pace];
  if (is_there) {
    ++in_class[reach.doublings];
  } else if (--in_class[reach.doublings] == 0) {
    in_class.erase(reach.doublings);
  }
  if (in_class.empty()) reached_.erase(reach.pace);
  if (!mates_.tell || farthest(reach.pace) == before) return;
  for (const Class near : {reach.pace - 1, reach.pace, reach.pace + 1}) {
    if (!kin_.contains(near)) changes_.classes.insert(near);
  }
}

void SimilarJobWork::ended(Class pace, double samples) {
  note_mate(pace, samples);
  for (const Class near : {pace - 1, pace, pace + 1}) {
    Kin& kin = kin_[near];
    kin.totals.push_back(samples);
    const std::size_t counted = counted_of(kin.totals.size());
    if (counted == kin.counted) continue;
    kin.counted = counted;
    kin.work.reset();
    if (mates_.tell) changes_.classes.insert(near);
  }
}

void SimilarJobWork::note_mate(Class pace, double samples) {
  const auto [last, is_first] = mates_.last.try_emplace(pace, samples);
  const double before = std::exchange(last->second, samples);
  if (is_first) return;
  ++mates_.pairs;
  if (std::max(before, samples) <= kMates * std::min(before, samples)) ++mates_.alike;
  if (counted_of(mates_.pairs) != mates_.pairs) return;
  const bool told = std::exchange(mates_.tell, mates_.pairs >= kPairs && 2 * mates_.alike >= mates_.pairs);
  changes_.all = changes_.all || told != mates_.tell;
}

void SimilarJobWork::forget_ends() {
  kin_.clear();
  mates_ = {};
  changes_.all = true;
}

std::size_t SimilarJobWork::ended_kin(Class pace) const {
  const auto found = kin_.find(pace);
  return mates_.tell && found != kin_.end() ? found->second.counted : 0;
}

std::optional<double> SimilarJobWork::left(Class pace, double samples) {
  if (!mates_.tell) return std::nullopt;
  const auto found = kin_.find(pace);
  if (found == kin_.end()) {
    double most = 0;
    for (const Class near : {pace - 1, pace, pace + 1}) {
      if (const auto doublings = farthest(near)) most = std::max(most, std::exp2(*doublings / 2.0));
    }
    return LearntWork({}, most).left(samples);
  }
  Kin& kin = found->second;
  if (!kin.work) {
    const auto end = kin.totals.begin() + static_cast<std::ptrdiff_t>(kin.counted);
    kin.work.emplace(std::vector<double>(kin.totals.begin(), end), 0);
  }
  return kin.work->left(samples);
}

}  // namespace tidepool::policies
