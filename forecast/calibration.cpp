#include "forecast/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "core/state/job_state.hpp"

namespace tidepool::forecast {
namespace {

constexpr std::size_t kKept = 1'024;   // quotients of a class
constexpr std::size_t kEnough = 16;    // to do without those of other distances
constexpr std::size_t kOpenMost = 16;  // forecasts of one thing that are waited for
constexpr std::array kDistanceEnds{Duration::seconds(900), Duration::seconds(4 * 3'600), Duration::seconds(86'400)};
constexpr Duration kTick = Duration::seconds(1);  // nothing is told more exactly than this
constexpr double kPace = 0.005;                   // by which percentiles follow what has failed
constexpr double kTailLeast = 0.002;
constexpr double kTailMost = 0.4;
constexpr std::array kMoments{Moment::kStart, Moment::kEnd};
constexpr std::array kAllBases{Basis::kDeclared, Basis::kTold, Basis::kKin, Basis::kUnknown};

// Logarithm of the quotient by which a forecast is taken to be off before any was held against what happened.
double unlearnt_spread(Basis basis) {
  switch (basis) {
    case Basis::kDeclared:
    case Basis::kTold: return std::log(1.4);
    case Basis::kKin: return std::log(3);
    case Basis::kUnknown: return std::log(6);
  }
  return std::log(6);
}

std::size_t distance_of(Duration left) {
  const auto end = std::find_if(kDistanceEnds.begin(), kDistanceEnds.end(), [&](Duration most) { return left < most; });
  return static_cast<std::size_t>(end - kDistanceEnds.begin());
}

// Of values in ascending order, none of which is nearer than it must be: so that a new one lies below it with this
// probability at least where `share` is above a half, and at most where it is below.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() + 1);
  const double rank = share > 0.5 ? std::ceil(place) : share < 0.5 ? std::floor(place) : std::round(place);
  const auto at = std::clamp(rank, 1.0, static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(at) - 1];
}

// The factor by which forecasts with these quotients would have had the least median error, as a part of how long it
// took; logarithms in ascending order, at least one. It is that of the shortest half (Rousseeuw, "Least Median of
// Squares Regression", JASA 1984): a factor m is off by |m x - 1|, x = 1 / quotient, so it makes the ends of a half off
// alike.
double least_error_factor(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2 + 1;
  double best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + half <= sorted.size(); ++i) {
    const double most = std::exp(-sorted[i]);
    const double low = std::exp(-sorted[i + half - 1]);
    const double error = (most - low) / (most + low);
    if (error >= least) continue;
    least = error;
    best = 2 / (most + low);
  }
  return best;
}

// Four made-up ones were right: so nothing is set right before as many others agree that it must be.
double likely_factor(std::vector<double> logs) {
  logs.insert(logs.end(), 4, 0.0);
  std::sort(logs.begin(), logs.end());
  return least_error_factor(logs);
}

// When it is expected, and up to when a calendar alone decides (JobForecast): what counts begins there.
struct Awaited {
  const std::optional<Instant>& at;
  const std::optional<Instant>& fixed;
  [[nodiscard]] Instant from(Instant now) const { return fixed ? std::max(now, *fixed) : now; }
};

Duration times(Duration left, double quotient) {
  return Duration::from_seconds(std::min(1e10, left.to_seconds() * quotient));
}

}  // namespace

std::size_t Calibration::Class::index() const {
  return (static_cast<std::size_t>(moment) * kBases + static_cast<std::size_t>(basis)) * kDistances + distance;
}

void Calibration::Tails::learn(bool was_below, bool was_above) {
  const auto follow = [](double& tail, bool failed) {
    tail = std::clamp(tail + kPace * (kTail - (failed ? 1 : 0)), kTailLeast, kTailMost);
  };
  follow(below, was_below);
  follow(above, was_above);
}

Calibration::Calibration()
    : settled_(kMoments.size() * kBases * kDistances), tails_(settled_.size()), quotients_(settled_.size()) {
  reckon(Instant());
}

void Calibration::remember(const core::ClusterState& state, const Forecast& forecast) {
  for (const auto& [id, told] : forecast.jobs) {
    const core::Job* job = state.find_job(id);
    if (job == nullptr) continue;
    const auto say = [&](Moment moment, Basis basis, const Awaited& when) {
      const Instant from = when.from(forecast.at);
      if (!when.at || *when.at <= from) return;
      const Duration left = *when.at - from;
      const Class of{moment, basis, distance_of(left)};
      const Quotients& by = quotients_[of.index()];
      open({id, moment}, {from, left, of, std::log(by.low), std::log(by.high)});
    };
    if (!job->started_at) say(Moment::kStart, told.start_basis, {told.start, told.start_fixed});
    say(Moment::kEnd, told.basis, {told.end, told.end_fixed});
  }
}

// Of many every other one is dropped: they stay spread over the whole time.
void Calibration::open(Key key, Open said) {
  std::vector<Open>& all = open_[key];
  if (all.size() == kOpenMost) {
    for (std::size_t i = 0; i < kOpenMost / 2; ++i) all[i] = all[2 * i];
    all.resize(kOpenMost / 2);
  }
  all.push_back(said);
}

void Calibration::learn(const core::ClusterState& state, Instant now) {
  for (auto each = open_.begin(); each != open_.end();) {
    const auto& [id, moment] = each->first;
    const core::Job* job = state.find_job(id);
    const core::EndedJob* ended = job == nullptr ? state.find_ended(id) : nullptr;
    std::optional<Instant> happened;
    if (moment == Moment::kStart && job != nullptr) happened = job->started_at;
    if (moment == Moment::kEnd && job != nullptr && job->state() == core::JobState::kSucceeded) {
      happened = job->phase.ended_at();
    }
    if (moment == Moment::kEnd && ended != nullptr && ended->state == core::JobState::kSucceeded) {
      happened = ended->finished_at;
    }
    const bool is_over = job == nullptr || core::is_final(job->state());
    if (happened) settle(each->second, *happened);
    each = happened || is_over ? open_.erase(each) : std::next(each);
  }
  reckon(now);
}

void Calibration::settle(const std::vector<Open>& said, Instant happened) {
  for (const Open& one : said) {
    // Before the time that a calendar had fixed: its operator has changed the budget, and no forecast was wrong.
    if (happened < one.at) continue;
    const double took = std::max(kTick, happened - one.at).to_seconds();
    const double left = std::max(kTick, one.left).to_seconds();
    const double tick = kTick.to_seconds();
    const bool below = took < left * std::exp(one.log_low) - tick;
    const bool above = took > left * std::exp(one.log_high) + tick;
    std::deque<Settled>& settled = settled_[one.of.index()];
    settled.push_back({.log = std::log(took / left), .within = !below && !above});
    ++count_;
    if (settled.size() > kKept) settled.pop_front();
    tails_[one.of.index()].learn(below, above);
  }
}

void Calibration::reckon(Instant now) {
  std::vector<std::vector<double>> overdue(settled_.size());
  for (const auto& [key, all] : open_) {
    for (const Open& one : all) {
      if (now <= one.at + one.left) continue;
      overdue[one.of.index()].push_back(std::log((now - one.at).to_seconds() / one.left.to_seconds()));
    }
  }
  for (const Moment moment : kMoments) {
    for (const Basis basis : kAllBases) {
      for (std::size_t distance = 0; distance < kDistances; ++distance) {
        const Class of{moment, basis, distance};
        quotients_[of.index()] = quotients_of(of, overdue);
      }
    }
  }
}

Calibration::Quotients Calibration::quotients_of(const Class& of,
                                                 const std::vector<std::vector<double>>& overdue) const {
  std::vector<double> logs;
  const auto add = [&](const Class& from) {
    for (const Settled& each : settled_[from.index()]) logs.push_back(each.log);
    logs.insert(logs.end(), overdue[from.index()].begin(), overdue[from.index()].end());
  };
  add(of);
  if (logs.size() < kEnough) {
    for (std::size_t distance = 0; distance < kDistances; ++distance) {
      if (distance != of.distance) add({of.moment, of.basis, distance});
    }
  }
  const double likely = likely_factor(logs);
  const double spread = unlearnt_spread(of.basis);
  for (const double off : {-1.0, -1.0 / 3, 1.0 / 3, 1.0}) logs.push_back(off * spread);
  std::sort(logs.begin(), logs.end());
  const Tails& tails = tails_[of.index()];
  return {std::exp(quantile(logs, tails.below)), likely, std::exp(quantile(logs, 1 - tails.above))};
}

std::vector<Calibration::Observations> Calibration::observations() const {
  std::vector<Observations> classes(settled_.size());
  for (std::size_t i = 0; i < settled_.size(); ++i) {
    classes[i].settled.assign(settled_[i].begin(), settled_[i].end());
    classes[i].tail_below = tails_[i].below;
    classes[i].tail_above = tails_[i].above;
  }
  return classes;
}

Result<Calibration> Calibration::of(std::vector<Observations> observations) {
  Calibration made;
  if (observations.size() != made.settled_.size()) return invalid_argument("it has another number of classes");
  const auto is_tail = [](double tail) { return tail >= kTailLeast && tail <= kTailMost; };
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const Observations& one = observations[i];
    const auto is_number = [](const Settled& each) { return std::isfinite(each.log); };
    const bool is_sound = one.settled.size() <= kKept && is_tail(one.tail_below) && is_tail(one.tail_above) &&
                          std::all_of(one.settled.begin(), one.settled.end(), is_number);
    if (!is_sound) return invalid_argument("class " + std::to_string(i) + " is not as it was written");
    made.settled_[i].assign(one.settled.begin(), one.settled.end());
    made.count_ += static_cast<std::int64_t>(one.settled.size());
    made.tails_[i] = {.below = one.tail_below, .above = one.tail_above};
  }
  made.reckon(Instant());
  return made;
}

Expected Calibration::expect(Moment moment, Basis basis, Instant now, Instant when) const {
  const Duration left = std::max(Duration(), when - now);
  const Quotients& by = quotients_[Class{moment, basis, distance_of(left)}.index()];
  const Instant at = now + times(left, by.likely);
  return {.early = std::min(at, std::max(now, now + times(left, by.low) - kTick)),
          .at = at,
          .late = std::max(at, now + times(left, by.high) + kTick)};
}

std::size_t Calibration::known(Moment moment, Basis basis) const {
  std::size_t count = 0;
  for (std::size_t distance = 0; distance < kDistances; ++distance) {
    count += settled_[Class{moment, basis, distance}.index()].size();
  }
  return count;
}

Observed Calibration::observed(Moment moment) const {
  Observed sum;
  for (const Basis basis : kAllBases) {
    for (std::size_t distance = 0; distance < kDistances; ++distance) {
      for (const Settled& each : settled_[Class{moment, basis, distance}.index()]) {
        ++sum.all;
        sum.within += each.within ? 1 : 0;
      }
    }
  }
  return sum;
}

}  // namespace tidepool::forecast
