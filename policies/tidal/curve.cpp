#include "policies/tidal/curve.hpp"

#include "base/check.hpp"

namespace tidepool::policies::tidal {
namespace {

double slope(const Choice& from, const Choice& to) {
  return (to.worth - from.worth) / (to.size - from.size);
}

}  // namespace

Corners hull_of(const Curve& curve) {
  TP_CHECK(!curve.empty(), "a curve has a first choice");
  Corners corners;
  corners.reserve(curve.size());
  corners.push_back(0);
  for (std::uint32_t at = 1; at < curve.size(); ++at) {
    TP_CHECK(curve[at].size > curve[at - 1].size, "a curve rises in size");
    // A point on or under the line to the next one is no corner.
    while (corners.size() > 1 && slope(curve[corners[corners.size() - 2]], curve[corners.back()]) <=
                                     slope(curve[corners.back()], curve[at])) {
      corners.pop_back();
    }
    if (curve[at].worth > curve[corners.back()].worth) corners.push_back(at);
  }
  return corners;
}

double worth_each(const Curve& curve, const Choice& choice) {
  return choice.size > curve.front().size ? slope(curve.front(), choice) : 0;
}

}  // namespace tidepool::policies::tidal
