#include "schedulerd/live/http/route_table.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live::http {
namespace {

TEST_CASE("a path with an id finds its route and the id") {
  const auto match = match_route("POST", "/v1/jobs/job-7/resize");
  REQUIRE(match.route != nullptr);
  CHECK(match.route->path == "/v1/jobs/{id}/resize");
  CHECK(match.id == "job-7");
}

TEST_CASE("a known path with another method names the methods that it knows") {
  const auto match = match_route("PUT", "/v1/jobs/job-7");
  CHECK(match.route == nullptr);
  CHECK(match.allowed_methods == std::vector<std::string>{"GET", "HEAD", "PATCH", "DELETE"});
}

TEST_CASE("the batch of jobs is a path of its own, not a job") {
  const auto match = match_route("POST", "/v1/jobs:batch");
  REQUIRE(match.route != nullptr);
  CHECK(match.route->path == "/v1/jobs:batch");
  CHECK(match.id.empty());
  CHECK(match_route("GET", "/v1/jobs:batch").allowed_methods == std::vector<std::string>{"POST"});
}

TEST_CASE("a path that is almost a route is none") {
  for (const char* path :
       {"/", "/v1", "/v1/", "/v1/jobs/", "/v1/jobs//explain", "/v1/jobs/job-1/", "/v1/jobs/job-1/resize/x",
        "/v1/jobs:", "/v1/jobs:batch/", "/v2/jobs", "/healthz/", "v1/jobs", ""}) {
    INFO(path);
    CHECK(match_route("GET", path).allowed_methods.empty());
  }
}

TEST_CASE("HEAD goes where GET goes") {
  REQUIRE(match_route("HEAD", "/v1/jobs").route != nullptr);
  CHECK(match_route("HEAD", "/v1/jobs").route->method == "GET");
}

}  // namespace
}  // namespace tidepool::live::http
