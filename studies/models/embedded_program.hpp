// The answer of a linear program at which an interior-point method on its homogeneous self-dual embedding ends: the
// method of ECOS (Domahidi, Chu and Boyd, "ECOS: An SOCP solver for embedded systems", ECC 2013), restricted to linear
// programs. Of several optimal answers it ends at one inside their face, but not at its centre, and which one it is
// depends on the path; figures that were made with such a solver can only be met by walking the same path. Where it
// does not matter which optimal answer is taken, linear_program.hpp is faster.
// Same program, same answer; work is bounded by kEmbeddedStepsMax.
#pragma once

#include <optional>
#include <vector>

#include "policies/models/linear_program.hpp"

namespace tidepool::policies {

inline constexpr int kEmbeddedStepsMax = 100;

// One value per column, at most about 1e-8 outside its bounds. None if the path does not end within the bound: the
// program has no answer, no best one, or is numerically too hard.
[[nodiscard]] std::optional<std::vector<double>> maximize_by_embedding(const LinearProgram& program);

// The same as an answer. A program without one is described by the simplex method; one whose path is too hard to walk
// is answered from the centre of its optimal face.
[[nodiscard]] LinearAnswer maximize_at_path_end(const LinearProgram& program);

}  // namespace tidepool::policies
