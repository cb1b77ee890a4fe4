// One run of Qhull over points in three dimensions and what it found, as plain numbers. Part of DelaunayField.
#pragma once

#include <array>
#include <vector>

#include "base/result.hpp"

namespace tidepool::policies {

struct LiftedFacet {
  std::array<int, 4> corners{};     // indices of points
  std::array<int, 4> neighbours{};  // indices of facets, opposite to each corner; -1 = the outside
  std::array<double, 5> plane{};    // normal and offset in four dimensions
};

struct DelaunayHull {
  std::vector<LiftedFacet> facets;
  double lift_scale = 1;
  double lift_shift = 0;
};

// `coordinates`: x, y, z of each point. The error carries Qhull's own words.
[[nodiscard]] Result<DelaunayHull> delaunay_hull(std::vector<double> coordinates);

}  // namespace tidepool::policies
