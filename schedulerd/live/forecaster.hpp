// Makes forecasts of the published picture, on a thread of its own that yields to all others (SCHED_IDLE). The loop
// neither waits for it nor learns of it.
//
// Duty: it rests 50 times as long as the newest forecast has taken of the processor, and 5 s at least, and makes none
// while nothing has changed. So it takes a fiftieth of one core at most, however many jobs there are; the more there
// are, the older a forecast may be.
//
// How good forecasts were is kept in a file of the state directory, which is written anew whenever one has come about
// (calibration_text.hpp; within the duty). A file that is lost or cannot be read costs nothing but wide intervals.
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
  struct Duty {
    Duration least = Duration::seconds(5);  // between two forecasts
    std::int64_t rests = 50;                // times as long as the newest one took
  };
  // `publisher` outlives it. `file`: where it keeps how good forecasts were; empty = nowhere.
  Forecaster(core::EngineParts parts, const Publisher& publisher, Duty duty, std::string file = {});
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
  // False: it stops.
  [[nodiscard]] bool rest(Duration time);

  core::EngineParts parts_;
  const Publisher& publisher_;
  Duty duty_;
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

// A plan of the submission by a copy of `seen`, which stays as it is. `calibration`: null = none was learnt yet.
[[nodiscard]] Result<PlannedSubmit> plan_on(const core::EngineParts& parts, const Published& seen,
                                            const core::JobSpec& spec, const forecast::Calibration* calibration);

}  // namespace tidepool::live
