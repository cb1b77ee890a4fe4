// Makes forecasts from the published picture, on its own thread with the lowest priority (SCHED_IDLE). The loop neither
// waits for it nor uses its results.
//
// Cost: it rests 50 times as long as the newest forecast took of the processor, at least 5 s, and makes none while
// nothing has changed. So it uses at most a fiftieth of one core, whatever the number of jobs; with more jobs,
// forecasts may be older.
//
// The accuracy of forecasts is kept in a file of the state directory, which is rewritten when a forecast has come true
// (calibration_text.hpp; within the same limit). If the file is lost or unreadable, intervals are only wider.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/decide/engine_parts.hpp"
#include "schedulerd/live/policies/task_thread.hpp"
#include "schedulerd/live/service/forecasts.hpp"
#include "schedulerd/live/service/publisher.hpp"

namespace tidepool::live {

class Forecaster {
 public:
  struct ForecastPace {
    Duration least = Duration::seconds(5);  // between two forecasts
    std::int64_t rests = 50;                // times as long as the newest one took
  };
  // `publisher` outlives it. `file`: where the accuracy is kept; empty = nowhere.
  Forecaster(core::EngineParts parts, const Publisher& publisher, ForecastPace duty, std::string file = {});
  ~Forecaster() { stop(); }
  Forecaster(const Forecaster&) = delete;
  Forecaster& operator=(const Forecaster&) = delete;

  void start();
  // Idempotent. A forecast under way is finished; it takes no longer than its limit of events.
  void stop();

  // Thread-safe. Null: none has been made yet.
  [[nodiscard]] std::shared_ptr<const ForecastPicture> newest() const;
  // Calls `done` once on the thread of the plans, or at once with kUnavailable if too many wait already.
  void plan(core::JobSpec spec, std::function<void(Result<PlannedSubmit>)> done);

 private:
  void run();
  void load();
  void save();
  void make(std::shared_ptr<const Published> picture);
  // False: it is stopping.
  [[nodiscard]] bool rest(Duration time);

  core::EngineParts parts_;
  const Publisher& publisher_;
  ForecastPace duty_;
  std::string file_;
  forecast::Calibration calibration_;  // of the thread alone
  std::int64_t saved_ = 0;             // likewise: as many forecasts had come about
  ForecastCosts costs_;                // likewise
  mutable std::mutex mutex_;
  std::condition_variable wakes_;
  bool stopping_ = false;
  std::shared_ptr<const ForecastPicture> newest_;
  std::thread thread_;
  TaskThread plans_;  // the last member: it ends before what it uses
};

// Plans the submission on a copy of `seen`, which is not changed. `calibration`: null = none was learnt yet.
[[nodiscard]] Result<PlannedSubmit> plan_on(const core::EngineParts& parts, const Published& seen,
                                            const core::JobSpec& spec, const forecast::Calibration* calibration);

}  // namespace tidepool::live
