// How good forecasts are, measured on a simulated run: at points of time all jobs are forecast by what a daemon would
// know then, and held against what happens. The calibration learns as in a daemon, from what has come about before each
// forecast, so no interval is judged by what it was made of.
//
// Rules. Held against each other are when a job that has never run starts, and when a job ends, each as a time from the
// forecast on; jobs that fail or are cut off are left out. The error is |said - happened| / happened, where less than a
// minute counts as a minute. Covered is what lies in the interval of 80 %, give or take the second to which times are
// told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "forecast/calibration.hpp"
#include "forecast/forecast.hpp"
#include "sim/simulator.hpp"

namespace tidepool::studies {

class ForecastStudy {
 public:
  struct Setup {
    std::function<core::EngineParts()> parts;
    forecast::Limits limits;
    std::function<std::int64_t()> stopwatch_ns;  // none = costs are 0
  };
  explicit ForecastStudy(Setup setup) : setup_(std::move(setup)) {}

  // The run is at this point.
  void look(const core::ClusterState& state, Instant now);

  // One kind of what was forecast.
  struct Figures {
    std::int64_t forecasts = 0;  // held against what happened
    std::int64_t not_told = 0;   // happened, and the forecast did not say when
    double error_p50 = 0;        // of the expected time
    double error_p90 = 0;
    double raw_error_p50 = 0;  // of what the forward run says, before it is set right
    double covered = 0;        // share
    double width_p50 = 0;      // of the interval, as a share of the expected time from the forecast on
  };
  struct Report {
    std::int64_t looks = 0;
    std::int64_t cut_short = 0;  // forecasts that came to their limit of events
    double events_mean = 0;
    double cost_ms_p50 = 0;
    double cost_ms_max = 0;
    std::map<std::string, Figures> figures;  // "start", "end", and by basis: "end, declared"
    std::vector<std::string> errors;         // plans that were not lawful
  };
  // Once the run is over.
  [[nodiscard]] Report report(const sim::SimResult& result) const;

 private:
  struct Said {
    JobId job;
    forecast::Moment moment = forecast::Moment::kEnd;
    forecast::Basis basis = forecast::Basis::kUnknown;
    Instant at;
    std::optional<Instant> raw;  // none: not within the horizon
    forecast::Expected expected;
  };
  struct Sums;
  void say(const core::Job& job, const forecast::Forecast& made, const forecast::JobForecast& told);

  Setup setup_;
  forecast::Calibration calibration_;
  std::vector<Said> said_;
  std::vector<double> cost_ms_;
  std::int64_t events_ = 0;
  std::int64_t cut_short_ = 0;
  std::vector<std::string> errors_;
};

[[nodiscard]] nlohmann::ordered_json to_json(const ForecastStudy::Report& report);

}  // namespace tidepool::studies
