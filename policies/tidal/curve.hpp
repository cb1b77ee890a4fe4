// What each size is worth to one job over the next while, and the concave hull of these values: the pieces with which
// the job bids. Pure arithmetic on one job's row, independent of other jobs. README.md derives the formula.
#pragma once

#include <cstdint>

#include <boost/container/small_vector.hpp>

namespace tidepool::policies::tidal {

struct Choice {
  int size = 0;      // slots
  double worth = 0;  // finite; in the objective's own unit, comparable between jobs
  bool operator==(const Choice&) const = default;
};

// By size, each once. The first is the least that the job must have: nothing for most jobs, its present size for a job
// that must not change now. A market has a curve for every job; most jobs have few sizes, which fit into the curve
// object itself.
using Curve = boost::container::small_vector<Choice, 6>;
using Corners = boost::container::small_vector<std::uint32_t, 6>;

// The corners of a curve's upper concave hull as indices into it, from its first choice, as long as worth rises: from
// corner to corner the worth per slot falls strictly. Requires: the curve is not empty.
[[nodiscard]] Corners hull_of(const Curve& curve);

// What each slot of a choice is worth beyond the curve's first choice. 0: the choice is no larger than the first.
[[nodiscard]] double worth_each(const Curve& curve, const Choice& choice);

}  // namespace tidepool::policies::tidal
