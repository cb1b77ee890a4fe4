#include "schedulerd/live/forecaster.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "forecast/calibration_text.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live {
namespace {

constexpr std::int64_t kPlanEventsMost = 50'000;  // of each of its two forecasts

// Of this thread.
Duration processor_time() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return Duration::seconds(spent.tv_sec) + Duration::micros(spent.tv_nsec / 1'000);
}

// Of this thread alone. Nearly all of a processor that others want is left to them; a low priority would not do, since
// a forecast of many jobs takes seconds. Where it is refused the thread is like others.
void yield_to_others() {
  const sched_param none{};
  (void)sched_setscheduler(0, SCHED_IDLE, &none);
}

}  // namespace

Forecaster::Forecaster(core::EngineParts parts, const Publisher& publisher, ForecastPace duty, std::string file)
    : parts_(std::move(parts)), publisher_(publisher), duty_(duty), file_(std::move(file)) {}

void Forecaster::start() {
  thread_ = std::thread([this] { run(); });
}

void Forecaster::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
  plans_.stop();
}

std::shared_ptr<const ForecastPicture> Forecaster::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

bool Forecaster::rest(Duration time) {
  std::unique_lock lock(mutex_);
  wakes_.wait_for(lock, std::chrono::microseconds(time.count_us()), [this] { return stopping_; });
  return !stopping_;
}

void Forecaster::load() {
  if (file_.empty()) return;
  std::ifstream file(file_);
  if (!file) return;  // the first start
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto read = forecast::calibration_from_text(text);
  if (read.ok()) {
    calibration_ = *std::move(read);
    saved_ = calibration_.settled();
  } else {
    spdlog::warn("event=forecasts_unreadable file={} why={:?}", file_, read.error().message);
  }
}

void Forecaster::save() {
  if (file_.empty() || calibration_.settled() == saved_) return;
  saved_ = calibration_.settled();
  const Status written = write_secret_file(file_, forecast::calibration_text(calibration_));
  if (!written.ok()) spdlog::warn("event=forecasts_not_kept why={:?}", written.error().message);
}

void Forecaster::run() {
  yield_to_others();
  load();
  EventSeq seen = 0;
  Duration pause = duty_.least;
  while (rest(pause)) {
    auto picture = publisher_.picture();
    pause = duty_.least;
    if (picture->as_of_seq == seen || picture->state.jobs.empty()) continue;
    seen = picture->as_of_seq;
    const Duration begin = processor_time();
    make(std::move(picture));
    save();
    pause = std::max(duty_.least, (processor_time() - begin) * duty_.rests);
  }
}

void Forecaster::make(std::shared_ptr<const Published> picture) {
  const Duration begin = processor_time();
  calibration_.learn(picture->state, picture->now);
  const forecast::Forecast made = forecast::forecast(parts_, picture->state, picture->now);
  auto next = std::make_shared<ForecastPicture>();
  next->told = forecast::tell(picture->state, made, calibration_);
  calibration_.remember(picture->state, made);
  next->calibration = std::make_shared<const forecast::Calibration>(calibration_);
  next->of = std::move(picture);
  ++costs_.made;
  costs_.events += made.events;
  costs_.errors += made.error.empty() ? 0 : 1;
  costs_.newest = processor_time() - begin;
  costs_.spent += costs_.newest;
  next->costs = costs_;
  std::shared_ptr<const ForecastPicture> newest = std::move(next);
  {
    const std::lock_guard lock(mutex_);
    newest_.swap(newest);
  }
  // The one before may be large; it goes once no reader waits for the lock.
}

void Forecaster::plan(core::JobSpec spec, std::function<void(Result<PlannedSubmit>)> done) {
  const bool taken = plans_.post(
      [this, seen = publisher_.picture(), spec = std::move(spec), done] {
        const auto known = newest();
        done(plan_on(parts_, *seen, spec, known == nullptr ? nullptr : known->calibration.get()));
      },
      kPlansMost);
  if (!taken) done(Error{ErrorCode::kUnavailable, "too many plans wait; try again in a few seconds"});
}

Result<PlannedSubmit> plan_on(const core::EngineParts& parts, const Published& seen, const core::JobSpec& spec,
                              const forecast::Calibration* calibration) {
  const forecast::SubmitAsked asked{.spec = spec, .now = seen.now, .limits = {.events_most = kPlanEventsMost}};
  auto plan =
      forecast::plan_submit(parts, seen.state, asked, calibration == nullptr ? forecast::Calibration() : *calibration);
  if (!plan.ok()) return plan.error();
  auto picture = std::make_shared<Published>(seen);
  picture->state = plan->state;
  return PlannedSubmit{.picture = std::move(picture), .plan = *std::move(plan)};
}

}  // namespace tidepool::live
