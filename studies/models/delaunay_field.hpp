// Values between scattered measurements in three dimensions: piecewise linear on the Delaunay tetrahedra of the points,
// which Qhull computes (Barber, Dobkin, Huhdanpaa: The Quickhull algorithm, ACM TOMS 22(4), 1996).
// Measurements on a grid put many points on one sphere. The tetrahedra are not unique then, and where two cells cut
// their common face along different diagonals a point on that face belongs to several with different values. Which one
// counts is decided as SciPy's LinearNDInterpolator decides it, because published results rest on that: the same Qhull
// options, the same order of points (keep it), and the same walk from the first tetrahedron.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/result.hpp"

namespace tidepool::policies {

class DelaunayField {
 public:
  using Point = std::array<double, 3>;
  using Value = std::array<double, 2>;
  struct Sample {
    Point at;
    Value value;
  };

  // Needs at least five points that do not lie in one plane; finite coordinates.
  [[nodiscard]] static Result<DelaunayField> over(std::vector<Sample> samples);

  // Nothing outside the points' convex hull.
  [[nodiscard]] std::optional<Value> at(const Point& point) const;

 private:
  static constexpr int kNone = -1;

  // Lifted onto a paraboloid in a fourth dimension, the tetrahedra are the lower facets of a convex hull.
  struct Tetrahedron {
    std::array<int, 4> corners{};     // indices of samples
    std::array<int, 4> neighbours{};  // opposite to each corner; kNone = the outside
    std::array<double, 5> plane{};    // of the lifted facet: normal, offset
    bool flat = false;                // no volume: `inverse` means nothing
    std::array<Point, 3> inverse{};   // weight of corner i < 3 = inverse[i] . (point - corner 3)
  };
  using Weights = std::array<double, 4>;

  void measure(Tetrahedron& tetrahedron) const;
  [[nodiscard]] Weights weights(const Tetrahedron& tetrahedron, const Point& point) const;
  [[nodiscard]] double above_plane(int tetrahedron, const Point& point) const;
  [[nodiscard]] bool outside_the_box(const Point& point) const;
  [[nodiscard]] int climb(const Point& point) const;
  [[nodiscard]] int walk(int from, const Point& point) const;
  [[nodiscard]] int look_at_all(const Point& point) const;
  [[nodiscard]] int beside_flat(int flat, const Point& point) const;
  [[nodiscard]] const Tetrahedron& tetrahedron(int index) const;

  std::vector<Sample> samples_;
  std::vector<Tetrahedron> tetrahedra_;  // in Qhull's order
  Point low_{};                          // the box around all points
  Point high_{};
  double lift_scale_ = 1;  // height on the paraboloid = |point|^2 x scale + shift
  double lift_shift_ = 0;
};

}  // namespace tidepool::policies
