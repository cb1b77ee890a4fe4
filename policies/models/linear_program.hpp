// A linear program, solved by COIN-OR's Clp:
//   maximize sum_j objective_j x_j   subject to   low_i <= sum_j factor_ij x_j <= high_i,   low_j <= x_j <= high_j.
// The same program gives the same answer every time: work is bounded by iterations, never by a clock. Programs over
// whole numbers go to Cbc (studies/baselines/choice_program.hpp).
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace tidepool::policies {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

class LinearProgram {
 public:
  struct Column {
    double objective = 0;
    double low = 0;
    double high = kNoBound;
  };
  struct Term {
    std::size_t column = 0;
    double factor = 0;
  };
  struct Row {
    std::vector<Term> terms;  // each column at most once
    double low = -kNoBound;
    double high = kNoBound;
  };

  // The index with which terms refer to it.
  std::size_t add(const Column& column) {
    columns_.push_back(column);
    return columns_.size() - 1;
  }
  void add(Row row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Which one of several optimal answers.
enum class Optimum {
  kCorner,  // simplex: most columns lie at a bound
  kCentre,  // interior point without crossover: what can be shared evenly is
};

inline constexpr int kIterationsMax = 100'000;  // of the simplex or interior-point method

enum class Solved {
  kOptimal,
  kGoodEnough,  // out of iterations: `values` is an answer, possibly not the best
  kInfeasible,  // no answer exists; `values` is empty, as below
  kUnbounded,
  kGaveUp,  // out of iterations before any answer was found
};

struct LinearAnswer {
  Solved solved = Solved::kGaveUp;
  std::vector<double> values;  // one per column, within its bounds
  double objective = 0;
};

[[nodiscard]] LinearAnswer maximize(const LinearProgram& program, Optimum optimum);

// The answer with these values, one per column, moved to the bounds that they exceed by rounding.
[[nodiscard]] LinearAnswer answer_of(const LinearProgram& program, Solved solved, const double* values);

}  // namespace tidepool::policies
