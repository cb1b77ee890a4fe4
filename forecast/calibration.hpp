// The observed errors of past forecasts, and the interval that a new forecast gets from them.
//
// Rule (split conformal prediction: Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random World", 2005, chapter
// 2). An observation is the quotient of the actual duration, counted from the forecast, and the forecast duration. Of
// each class the newest 1,024 quotients are kept. A forecast is multiplied by the factor that would have given earlier
// forecasts of its class the least median error, and its interval is that of the tenth and ninetieth percentile of the
// quotients. Classes are what is forecast, its basis, and how far away it is. A class with fewer than 16 quotients uses
// those of the same basis at other distances, and four assumed quotients stand for unknown errors: for the interval as
// far off as the basis may be, for the factor 1. An event that is overdue counts with the time that has passed: without
// it only the quick ones would count at first.
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

// Of forecasts whose event has occurred: their number, and the number of those within their intervals.
struct Observed {
  std::size_t all = 0;
  std::size_t within = 0;
  bool operator==(const Observed&) const = default;
};

// The event is between `early` and `late` with a probability of 0.8. early <= at <= late.
struct Expected {
  Instant early;
  Instant at;
  Instant late;
  bool operator==(const Expected&) const = default;
};

class Calibration {
 public:
  Calibration();

  // The forecasts of each job take effect over time; a job that is pending after it has run says nothing about its
  // start.
  void remember(const core::ClusterState& state, const Forecast& forecast);
  // Records the outcome: of jobs that have started or succeeded by now. Others that have ended are forgotten.
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
  // By class, in a fixed order.
  [[nodiscard]] std::vector<Observations> observations() const;
  // One that goes on from them. Fails if they are not what observations() gives.
  [[nodiscard]] static Result<Calibration> of(std::vector<Observations> observations);

  // Requires: `when` is not before `now`.
  [[nodiscard]] Expected expect(Moment moment, Basis basis, Instant now, Instant when) const;
  // Number of quotients.
  [[nodiscard]] std::size_t known(Moment moment, Basis basis) const;
  // Number of forecasts whose event has occurred, including those that are no longer kept, but without those that a
  // restart has dropped.
  [[nodiscard]] std::int64_t settled() const { return count_; }
  // Of the kept ones, of any basis.
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
    Instant at;     // when it was made
    Duration left;  // forecast duration, > 0
    Class of;
    double log_low = 0;  // logarithms of the quotients that bound its interval
    double log_high = 0;
  };
  struct Quotients {
    double low = 1;
    double likely = 1;
    double high = 1;
  };
  // Fractions of the quotients below and above the interval of a class.
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
