// Interpolation of measurements: what is measured comes back, what lies between lies between, and nothing is invented.
#include <catch2/catch.hpp>

#include <limits>

#include "policies/models/measured_profile.hpp"

namespace tidepool::policies {
namespace {

double plane(const DelaunayField::Point& at) {
  return 3 + 2 * at[0] - at[1] + 0.5 * at[2];
}

// A grid, the hard case: eight points on each sphere, ties everywhere.
std::vector<DelaunayField::Sample> grid() {
  std::vector<DelaunayField::Sample> samples;
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) {
      for (int z = 0; z < 4; ++z) {
        const DelaunayField::Point at{double(x), double(y), double(z)};
        samples.push_back({.at = at, .value = {plane(at), -plane(at)}});
      }
    }
  }
  return samples;
}

}  // namespace

TEST_CASE("a field over a grid gives a linear function back, inside cells and on their faces") {
  const auto field = DelaunayField::over(grid());
  REQUIRE(field.ok());
  for (double x = 0; x <= 3; x += 0.25) {
    for (double y = 0; y <= 3; y += 0.5) {
      for (double z = 0; z <= 3; z += 0.3) {
        const auto value = field->at({x, y, z});
        REQUIRE(value);
        CHECK((*value)[0] == Approx(plane({x, y, z})).epsilon(1e-12));
        CHECK((*value)[1] == Approx(-plane({x, y, z})).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a field says nothing outside its points, and nothing about NaN") {
  const auto field = DelaunayField::over(grid());
  REQUIRE(field.ok());
  CHECK(!field->at({-0.1, 1, 1}));
  CHECK(!field->at({1, 1, 3.01}));
  CHECK(!field->at({std::numeric_limits<double>::quiet_NaN(), 1, 1}));
  // Inside the box, outside the hull.
  const auto corner = DelaunayField::over(
      {{{0, 0, 0}, {1, 1}}, {{4, 0, 0}, {1, 1}}, {{0, 4, 0}, {1, 1}}, {{0, 0, 4}, {1, 1}}, {{1, 1, 1}, {1, 1}}});
  REQUIRE(corner.ok());
  CHECK(corner->at({1, 1, 0.5}));
  CHECK(!corner->at({3, 3, 3}));
}

TEST_CASE("points that span no volume are refused in words") {
  std::vector<DelaunayField::Sample> flat;
  for (int i = 0; i < 9; ++i) flat.push_back({.at = {double(i % 3), double(i / 3), 1}, .value = {1, 1}});
  const auto field = DelaunayField::over(flat);
  REQUIRE(!field.ok());
  CHECK(field.error().message.find("cannot be triangulated") != std::string::npos);
  CHECK(!DelaunayField::over({}).ok());
}

TEST_CASE("a placement and its rotations are one; its mirror image is another") {
  CHECK(smallest_rotation({4, 4, 3}) == std::vector<int>{3, 4, 4});
  CHECK(smallest_rotation({2, 1, 3}) == std::vector<int>{1, 3, 2});
  CHECK(smallest_rotation({3, 1, 2}) == std::vector<int>{1, 2, 3});
}

TEST_CASE("a measured placement is interpolated along the local batch and not beyond it") {
  const auto profile = MeasuredProfile::from(
      {{.slots = {1, 2}, .local_batch = 8, .time = {1, 0.5}}, {.slots = {1, 2}, .local_batch = 16, .time = {2, 0.7}}},
      {});
  REQUIRE(profile.ok());
  const auto between = profile->step_time({2, 1}, 12);
  REQUIRE(between);
  CHECK(between->step_s == Approx(1.5));
  CHECK(between->sync_s == Approx(0.6));
  CHECK(profile->step_time({1, 2}, 16)->step_s == 2);
  CHECK(!profile->step_time({1, 2}, 7));
  CHECK(!profile->step_time({1, 2}, 17));
  CHECK(!profile->step_time({3}, 8));  // never measured, and no measurements by scale
}

TEST_CASE("a placement that was not measured lies between those with its nodes and workers") {
  std::vector<PlacementMeasurement> placements;
  std::vector<ScaleMeasurement> scales;
  const auto time = [](int nodes, int size, int batch) {
    return StepTime{.step_s = 1.0 + 0.1 * nodes + 0.01 * size + 0.001 * batch, .sync_s = 0.1};
  };
  for (const int batch : {8, 16}) {
    placements.push_back({.slots = {1}, .local_batch = batch, .time = time(1, 1, batch)});
    placements.push_back({.slots = {4}, .local_batch = batch, .time = time(1, 4, batch)});
    for (const int nodes : {4, 8}) {
      scales.push_back({.nodes = nodes, .size = nodes, .local_batch = batch, .time = time(nodes, nodes, batch)});
      scales.push_back(
          {.nodes = nodes, .size = nodes * 4, .local_batch = batch, .time = time(nodes, nodes * 4, batch)});
    }
  }
  const auto profile = MeasuredProfile::from(placements, scales);
  REQUIRE(profile.ok());
  const auto found = profile->step_time({4, 4, 3, 1, 1}, 10);
  REQUIRE(found);
  CHECK(found->step_s == Approx(time(5, 13, 10).step_s));
}

}  // namespace tidepool::policies
