#include <catch2/catch.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/codec/codec.hpp"
#include "policies/registry.hpp"
#include "schedulerd/live/forecaster.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/patience.hpp"

namespace tidepool::test {
namespace {

using live::Forecaster;
using live::Published;

core::EngineParts fifo() {
  return {policies::make_policies("fifo").value(), {std::make_shared<PlainDetector>()}, {}};
}

// One node of two slots, and so many jobs that were submitted and not decided about.
std::shared_ptr<Published> picture_of(std::uint64_t jobs, EventSeq seq) {
  core::Engine engine(fifo());
  const Instant now = Instant() + Duration::seconds(100);
  REQUIRE(engine.step({.at = now, .fact = core::NodeJoined{NodeId(1), "n1", 2, "gpu", Money(), {}}}).ok());
  for (std::uint64_t id = 1; id <= jobs; ++id) {
    core::JobSpec spec = job_spec({.max = 1});
    spec.work_samples = 10'240;
    REQUIRE(engine.step({.at = now, .fact = core::JobSubmitted{JobId(id), spec}}).ok());
  }
  auto picture = std::make_shared<Published>();
  picture->state = engine.view();
  picture->as_of_seq = seq;
  picture->now = now;
  return picture;
}

std::shared_ptr<const live::ForecastPicture> await_made(const Forecaster& forecaster, std::int64_t made) {
  std::shared_ptr<const live::ForecastPicture> newest;
  const bool came = eventually([&] {
    newest = forecaster.newest();
    return newest != nullptr && newest->costs.made >= made;
  });
  return came ? newest : nullptr;
}

TEST_CASE("a forecast is made of the newest picture, and another when that changes") {
  live::Publisher publisher;
  Forecaster forecaster(fifo(), publisher, {.least = Duration::millis(1)});
  CHECK(forecaster.newest() == nullptr);
  forecaster.start();
  const auto picture = picture_of(3, 7);
  const auto before = core::digest_of(picture->state);
  publisher.publish(picture);
  const auto first = await_made(forecaster, 1);
  REQUIRE(first != nullptr);
  CHECK(first->of == picture);
  CHECK(first->told.jobs.size() == 3);
  CHECK(first->costs.events > 0);
  CHECK(first->costs.spent == first->costs.newest);
  CHECK(core::digest_of(picture->state) == before);
  publisher.publish(picture_of(4, 9));
  const auto second = await_made(forecaster, 2);
  REQUIRE(second != nullptr);
  CHECK(second->told.jobs.size() == 4);
  forecaster.stop();
  forecaster.stop();
  // While the picture stood still none was made.
  CHECK(forecaster.newest()->costs.made == 2);
}

TEST_CASE("it rests fifty times as long as a forecast has taken") {
  live::Publisher publisher;
  Forecaster forecaster(fifo(), publisher, {.least = Duration::millis(1)});
  const auto begin = std::chrono::steady_clock::now();
  forecaster.start();
  EventSeq seq = 1;
  while (std::chrono::steady_clock::now() < begin + std::chrono::milliseconds(400)) {
    publisher.publish(picture_of(40, ++seq));
  }
  forecaster.stop();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const auto newest = forecaster.newest();
  REQUIRE(newest != nullptr);
  CHECK(newest->costs.made >= 1);
  // The newest one need not have been rested for.
  CHECK((newest->costs.spent - newest->costs.newest).to_seconds() <= 1.5 * passed.count() / 50);
}

TEST_CASE("a plan comes without a forecast having been made, and is refused when too many wait") {
  live::Publisher publisher;
  publisher.publish(picture_of(1, 1));
  Forecaster forecaster(fifo(), publisher, {});
  std::mutex mutex;
  std::condition_variable changed;
  int good = 0;
  int refused = 0;
  constexpr int kAsked = 200;
  for (int i = 0; i < kAsked; ++i) {
    forecaster.plan(job_spec({.max = 1}), [&](Result<live::PlannedSubmit> planned) {
      const std::lock_guard lock(mutex);
      const bool is_good = planned.ok() && planned->plan.told.jobs.contains(planned->plan.job);
      (is_good ? good : refused) += 1;
      if (!is_good) CHECK(planned.error().code == ErrorCode::kUnavailable);
      changed.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  REQUIRE(changed.wait_for(lock, std::chrono::seconds(60) * patience(), [&] { return good + refused == kAsked; }));
  CHECK(good >= 1);
}

}  // namespace
}  // namespace tidepool::test
