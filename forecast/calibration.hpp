// How far forecasts have been off, and which interval a new one therefore has.
//
// Rule (split conformal prediction: Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random World", 2005, chapter
// 2). What counts is the quotient of how long something took, from the forecast on, and how long it was said to take.
// Of each class the newest 1,024 quotients are kept; a forecast of that class is off by as much as the tenth and the
// ninetieth percentile of these say, and is set right by the factor with which the forecasts before it would have had
// the least median error. Classes are what is forecast, what it rests on, and how far away it is. A class with less
// than 16 quotients borrows those of the same basis at other distances, and four that are made up stand for what is not
// known yet: for the interval as far off as the basis may be, for the factor right. What should have happened by now
// and has not counts by the time that has passed: without it only the quick ones would be heard at first.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/state/cluster_state.hpp"
#include "forecast/forecast.hpp"

namespace tidepool::forecast {

enum class Moment { kStart, kEnd };

// Of forecasts that have come about: how many there are, and how many of them lay in their intervals.
struct Observed {
  std::size_t all = 0;
  std::size_t within = 0;
  bool operator==(const Observed&) const = default;
};

// Eight of ten times it lies between `early` and `late`. early <= at <= late.
struct Expected {
  Instant early;
  Instant at;
  Instant late;
  bool operator==(const Expected&) const = default;
};

class Calibration {
 public:
  Calibration();

  // What was forecast of each job becomes known in time; a job that waits after it has run tells nothing of its start.
  void remember(const core::ClusterState& state, const Forecast& forecast);
  // What has become of it: of jobs that have started or succeeded by now. Others that have ended are forgotten.
  void learn(const core::ClusterState& state, Instant now);

  // What has been observed of one class, the newest last; and the shares below and above its intervals, as they are
  // taken.
  struct Settled {
    double log = 0;  // of the quotient
    bool within = false;
    bool operator==(const Settled&) const = default;
  };
  struct Observations {
    std::vector<Settled> settled;
    double tail_below = 0;
    double tail_above = 0;
    bool operator==(const Observations&) const = default;
  };
  // By class, in an order that stays.
  [[nodiscard]] std::vector<Observations> observations() const;
  // One that goes on from them. Fails if they are not what observations() gives.
  [[nodiscard]] static Result<Calibration> of(std::vector<Observations> observations);

  // Requires: `when` is not before `now`.
  [[nodiscard]] Expected expect(Moment moment, Basis basis, Instant now, Instant when) const;
  // How many quotients there are.
  [[nodiscard]] std::size_t known(Moment moment, Basis basis) const;
  // How many forecasts have come about, ever; those that are no longer kept, too, but for what a restart has dropped.
  [[nodiscard]] std::int64_t settled() const { return count_; }
  // Of those that are kept, whatever they rest on.
  [[nodiscard]] Observed observed(Moment moment) const;

 private:
  static constexpr double kTail = 0.1;
  static constexpr std::size_t kBases = 4;
  static constexpr std::size_t kDistances = 4;
  struct Class {
    Moment moment = Moment::kEnd;
    Basis basis = Basis::kUnknown;
    std::size_t distance = 0;
    [[nodiscard]] std::size_t index() const;
  };
  struct Open {
    Instant at;     // when it was said
    Duration left;  // how long it was to take, > 0
    Class of;
    double log_low = 0;  // logarithms of the quotients between which it was told to lie
    double log_high = 0;
  };
  struct Quotients {
    double low = 1;
    double likely = 1;
    double high = 1;
  };
  // Shares of what lies below and above the interval of a class, as the percentiles are taken.
  struct Tails {
    double below = kTail;
    double above = kTail;
    void learn(bool was_below, bool was_above);
  };
  using Key = std::pair<JobId, Moment>;
  void open(Key key, Open said);
  void settle(const std::vector<Open>& said, Instant happened);
  void reckon(Instant now);
  [[nodiscard]] Quotients quotients_of(const Class& of, const std::vector<std::vector<double>>& overdue) const;

  std::map<Key, std::vector<Open>> open_;
  std::vector<std::deque<Settled>> settled_;  // by class, the newest last
  std::vector<Tails> tails_;                  // by class
  std::int64_t count_ = 0;                    // settled()
  std::vector<Quotients> quotients_;          // by class, as of the newest learn()
};

}  // namespace tidepool::forecast
