// The sizes of a forecast beside its times.
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

forecast::Expected around(std::int64_t n) {
  forecast::Expected expected;
  expected.at = expected.early = expected.late = minute(n);
  return expected;
}

// "0 at 00:00, 2 at 00:10"
std::string sizes_of(const forecast::ToldJob& told) {
  std::string text;
  const json rendered = render_told({}, told, {});
  for (const json& from : rendered.at("sizes")) {
    text +=
        (text.empty() ? "" : ", ") + from.at("size").dump() + " at " + from.at("at").get<std::string>().substr(11, 5);
  }
  return text;
}

TEST_CASE("sizes begin and end when the job is told to") {
  forecast::ToldJob told;
  told.basis = forecast::Basis::kDeclared;
  told.sizes = {{minute(0), 0}, {minute(10), 2}, {minute(20), 4}, {minute(30), 0}};
  told.start = around(13);
  told.end = around(41);
  CHECK(sizes_of(told) == "0 at 00:00, 2 at 00:13, 4 at 00:23, 0 at 00:41");
  told.end = around(22);
  CHECK(sizes_of(told) == "0 at 00:00, 2 at 00:13, 4 at 00:22, 0 at 00:22");
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

TEST_CASE("an end that is not known has no row, and what a job has now does not move") {
  forecast::ToldJob told;
  told.basis = forecast::Basis::kUnknown;
  told.sizes = {{minute(0), 2}, {minute(20), 4}, {minute(30), 0}};
  CHECK(sizes_of(told) == "2 at 00:00, 4 at 00:20");
  told.basis = forecast::Basis::kDeclared;  // that gives up its slots, and ends later than can be seen
  CHECK(sizes_of(told) == "2 at 00:00, 4 at 00:20, 0 at 00:30");
}

}  // namespace
}  // namespace tidepool::live::http
