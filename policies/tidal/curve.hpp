// What each size is worth to one job over the next while, and the concave hull of that: the pieces a job bids with.
// Pure arithmetic on one job's row; nothing here knows of other jobs. README.md derives the formula.
#pragma once

#include <cstdint>

#include <boost/container/small_vector.hpp>

namespace tidepool::policies::tidal {

struct Choice {
  int size = 0;      // slots
  double worth = 0;  // finite; in the objective's own unit, comparable between jobs
  bool operator==(const Choice&) const = default;
};

// By size, each once. The first is the least that the job must have: nothing for most, what it holds for one that must
// not change now. Most jobs have few sizes: theirs lie in the curve itself, as a market holds a curve for every job.
using Curve = boost::container::small_vector<Choice, 6>;
using Corners = boost::container::small_vector<std::uint32_t, 6>;

// The corners of a curve's upper concave hull as indices into it, from its first choice, as long as worth rises: from
// corner to corner the worth per slot falls strictly. Requires: the curve is not empty.
[[nodiscard]] Corners hull_of(const Curve& curve);

// What each slot of a choice of the curve is worth, beyond its first choice. 0: it is no larger than that.
[[nodiscard]] double worth_each(const Curve& curve, const Choice& choice);

}  // namespace tidepool::policies::tidal
