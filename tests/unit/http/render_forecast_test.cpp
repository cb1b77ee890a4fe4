// Forecasts as the API shows them.
#include <catch2/catch.hpp>

#include "forecast/told.hpp"
#include "schedulerd/live/http/render.hpp"
#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

Instant minute(std::int64_t n) {
  return Instant() + Duration::seconds(60 * n);
}

TEST_CASE("a job that its user has suspended has no forecast, not even the one made before") {
  auto picture = std::make_shared<ForecastPicture>();
  picture->told.jobs[JobId(7)].sizes = {{minute(0), 2}};
  test::NoHistory past;
  const Caller admin;
  Published seen;
  core::Job job;
  job.id = JobId(7);
  const auto forecast = [&] {
    seen.state.jobs[job.id] = std::make_shared<const core::Job>(job);
    return render_forecast({seen, admin, past, picture}, job.id);
  };
  job.phase = core::phase::Running{};
  CHECK(forecast().is_object());
  job.requests.suspend = true;
  CHECK(forecast().is_null());
  job.phase = core::phase::Suspended{};
  CHECK(forecast().is_null());
}

TEST_CASE("the policy file that decides and was not asked is named") {
  forecast::ToldJob told;
  told.sizes = {{minute(0), 0}};
  forecast::Told of;
  CHECK(render_told({}, told, of).at("unasked_policy").is_null());
  of.unasked_policy = "capped@0123456789ab";
  CHECK(render_told({}, told, of).at("unasked_policy") == "capped@0123456789ab");
}

}  // namespace
}  // namespace tidepool::live::http
