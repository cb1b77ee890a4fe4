#include "studies/models/delaunay_field.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "studies/models/delaunay_hull.hpp"

namespace tidepool::policies {
namespace {

// Rounding pushes a point on a face outside by about this much of a tetrahedron.
constexpr double kTolerance = 100 * std::numeric_limits<double>::epsilon();
// How far outside it may seem when the tetrahedron behind that face is flat: the root of the precision.
constexpr double kBroadTolerance = 0x1.0p-26;
// Reciprocal condition below which a tetrahedron counts as flat.
constexpr double kFlat = 1000 * std::numeric_limits<double>::epsilon();

bool within(double weight, double tolerance_below) {
  return weight >= -tolerance_below && weight <= 1 + kTolerance;
}

}  // namespace

const DelaunayField::Tetrahedron& DelaunayField::tetrahedron(int index) const {
  return tetrahedra_[static_cast<std::size_t>(index)];
}

void DelaunayField::measure(Tetrahedron& made) const {
  const auto place = [&](std::size_t corner) -> const Point& {
    return samples_[static_cast<std::size_t>(made.corners[corner])].at;
  };
  Eigen::Matrix3d edges;
  for (std::size_t corner = 0; corner < 3; ++corner) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      edges(static_cast<int>(axis), static_cast<int>(corner)) = place(corner)[axis] - place(3)[axis];
    }
  }
  const Eigen::PartialPivLU<Eigen::Matrix3d> solver(edges);
  made.flat = !(solver.rcond() > kFlat);
  if (made.flat) return;
  const Eigen::Matrix3d inverse = solver.inverse();
  for (int i = 0; i < 3; ++i) made.inverse[static_cast<std::size_t>(i)] = {inverse(i, 0), inverse(i, 1), inverse(i, 2)};
}

Result<DelaunayField> DelaunayField::over(std::vector<Sample> samples) {
  if (samples.size() < 5) {
    return invalid_argument("interpolation in three dimensions needs five measurements, not " +
                            std::to_string(samples.size()));
  }
  std::vector<double> coordinates;
  DelaunayField field;
  field.low_ = field.high_ = samples.front().at;
  for (const Sample& sample : samples) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double coordinate = sample.at[axis];
      if (!std::isfinite(coordinate)) return invalid_argument("a measurement's place is not a finite number");
      coordinates.push_back(coordinate);
      field.low_[axis] = std::min(field.low_[axis], coordinate);
      field.high_[axis] = std::max(field.high_[axis], coordinate);
    }
  }
  const auto hull = delaunay_hull(std::move(coordinates));
  if (!hull) return hull.error();
  field.samples_ = std::move(samples);
  field.lift_scale_ = hull->lift_scale;
  field.lift_shift_ = hull->lift_shift;
  for (const LiftedFacet& facet : hull->facets) {
    Tetrahedron made{.corners = facet.corners, .neighbours = facet.neighbours, .plane = facet.plane};
    field.measure(made);
    field.tetrahedra_.push_back(made);
  }
  return field;
}

DelaunayField::Weights DelaunayField::weights(const Tetrahedron& t, const Point& point) const {
  const Point& origin = samples_[static_cast<std::size_t>(t.corners[3])].at;
  Weights weights{0, 0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) weights[i] += t.inverse[i][axis] * (point[axis] - origin[axis]);
    weights[3] -= weights[i];
  }
  return weights;
}

// Signed distance of the lifted point from the facet's plane: positive for the facet below which the point lies, and
// for others near it.
double DelaunayField::above_plane(int index, const Point& point) const {
  const std::array<double, 5>& plane = tetrahedron(index).plane;
  double height = 0;
  for (const double coordinate : point) height += coordinate * coordinate;
  height = height * lift_scale_ + lift_shift_;
  double distance = plane[4];
  for (std::size_t axis = 0; axis < 3; ++axis) distance += plane[axis] * point[axis];
  return distance + plane[3] * height;
}

bool DelaunayField::outside_the_box(const Point& point) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(point[axis] >= low_[axis] - kTolerance && point[axis] <= high_[axis] + kTolerance)) return true;
  }
  return false;
}

// From the first tetrahedron uphill to one whose plane the lifted point is above: near the one that holds it.
int DelaunayField::climb(const Point& point) const {
  int here = 0;
  double best = above_plane(here, point);
  for (bool moved = true; moved && best <= 0;) {
    moved = false;
    for (std::size_t side = 0; side < 4; ++side) {
      const int next = tetrahedron(here).neighbours[side];
      if (next == kNone) continue;
      const double distance = above_plane(next, point);
      if (distance <= best + kTolerance * (1 + std::abs(best))) continue;
      here = next;  // and go on with the new one's remaining sides
      best = distance;
      moved = true;
    }
  }
  return here;
}

// Through the face that the point lies behind, again and again; kNone when that leads outside.
int DelaunayField::walk(int from, const Point& point) const {
  int here = from;
  for (std::size_t hops = 0; hops <= tetrahedra_.size() / 4; ++hops) {
    const Tetrahedron& t = tetrahedron(here);
    if (t.flat) return look_at_all(point);
    const Weights at = weights(t, point);
    const auto behind = std::find_if(at.begin(), at.end(), [](double weight) { return weight < -kTolerance; });
    if (behind == at.end()) {
      const bool inside = std::all_of(at.begin(), at.end(), [](double w) { return within(w, kTolerance); });
      return inside ? here : look_at_all(point);
    }
    here = t.neighbours[static_cast<std::size_t>(behind - at.begin())];
    if (here == kNone) return kNone;
  }
  return look_at_all(point);
}

int DelaunayField::look_at_all(const Point& point) const {
  for (int index = 0; static_cast<std::size_t>(index) < tetrahedra_.size(); ++index) {
    if (tetrahedron(index).flat) {
      if (const int beside = beside_flat(index, point); beside != kNone) return beside;
      continue;
    }
    const Weights at = weights(tetrahedron(index), point);
    if (std::all_of(at.begin(), at.end(), [](double w) { return within(w, kTolerance); })) return index;
  }
  return kNone;
}

// A neighbour of a flat tetrahedron that holds the point when the face towards the flat one is taken less exactly.
int DelaunayField::beside_flat(int flat, const Point& point) const {
  for (const int neighbour : tetrahedron(flat).neighbours) {
    if (neighbour == kNone || tetrahedron(neighbour).flat) continue;
    const Tetrahedron& t = tetrahedron(neighbour);
    const Weights at = weights(t, point);
    bool inside = true;
    for (std::size_t side = 0; side < 4; ++side) {
      inside = inside && within(at[side], t.neighbours[side] == flat ? kBroadTolerance : kTolerance);
    }
    if (inside) return neighbour;
  }
  return kNone;
}

std::optional<DelaunayField::Value> DelaunayField::at(const Point& point) const {
  if (outside_the_box(point)) return std::nullopt;
  const int found = walk(climb(point), point);
  if (found == kNone) return std::nullopt;
  const Weights at = weights(tetrahedron(found), point);
  Value value{};
  for (std::size_t i = 0; i < 4; ++i) {
    const Sample& corner = samples_[static_cast<std::size_t>(tetrahedron(found).corners[i])];
    for (std::size_t v = 0; v < value.size(); ++v) value[v] += at[i] * corner.value[v];
  }
  return value;
}

}  // namespace tidepool::policies
