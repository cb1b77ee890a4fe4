// What each size is worth to one job over the next while, and the concave hull of that: the pieces a job bids with.
// Pure arithmetic on one job's row; nothing here knows of other jobs. README.md derives the formula.
#pragma once

#include <cstddef>
#include <vector>

namespace tidepool::policies::tidal {

struct Choice {
  int size = 0;      // slots
  double worth = 0;  // finite; in the objective's own unit, comparable between jobs
  bool operator==(const Choice&) const = default;
};

// By size, each once. The first is the least that the job must have: nothing for most, what it holds for one that must
// not change now.
using Curve = std::vector<Choice>;

// The corners of a curve's upper concave hull as indices into it, from its first choice, as long as worth rises: from
// corner to corner the worth per slot falls strictly. Requires: the curve is not empty.
[[nodiscard]] std::vector<std::size_t> hull_of(const Curve& curve);

}  // namespace tidepool::policies::tidal
