#include "studies/models/integer_program.hpp"

#include <CbcModel.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>

#include <algorithm>
#include <cmath>

namespace tidepool::policies {
namespace {

// The sense of the objective is turned: Cbc minimizes.
void load(const LinearProgram& program, OsiClpSolverInterface& solver) {
  std::vector<int> rows, columns;
  std::vector<double> factors, row_low, row_high, low, high, cost;
  const auto bounded = [&](double bound) { return std::clamp(bound, -solver.getInfinity(), solver.getInfinity()); };
  for (std::size_t row = 0; row < program.rows().size(); ++row) {
    for (const LinearProgram::Term& term : program.rows()[row].terms) {
      rows.push_back(static_cast<int>(row));
      columns.push_back(static_cast<int>(term.column));
      factors.push_back(term.factor);
    }
    row_low.push_back(bounded(program.rows()[row].low));
    row_high.push_back(bounded(program.rows()[row].high));
  }
  for (const LinearProgram::Column& column : program.columns()) {
    low.push_back(bounded(column.low));
    high.push_back(bounded(column.high));
    cost.push_back(-column.objective);
  }
  CoinPackedMatrix matrix(/*colordered=*/true, rows.data(), columns.data(), factors.data(),
                          static_cast<CoinBigIndex>(factors.size()));
  matrix.setDimensions(static_cast<int>(row_low.size()), static_cast<int>(low.size()));
  solver.loadProblem(matrix, low.data(), high.data(), cost.data(), row_low.data(), row_high.data());
}

}  // namespace

LinearAnswer maximize_whole(const LinearProgram& program, const std::vector<std::size_t>& whole,
                            const BranchLimits& limits) {
  OsiClpSolverInterface solver;
  solver.setHintParam(OsiDoReducePrint, true, OsiHintTry);
  load(program, solver);
  for (const std::size_t column : whole) solver.setInteger(static_cast<int>(column));
  CbcModel model(solver);
  relax(model, limits);
  if (model.isInitialSolveProvenPrimalInfeasible()) return {.solved = Solved::kInfeasible, .values = {}};
  if (model.isInitialSolveProvenDualInfeasible()) return {.solved = Solved::kUnbounded, .values = {}};
  model.branchAndBound();
  const double* solution = model.bestSolution();
  if (solution == nullptr) {
    return {.solved = model.isProvenInfeasible() ? Solved::kInfeasible : Solved::kGaveUp, .values = {}};
  }
  LinearAnswer answer{.solved = model.isProvenOptimal() ? Solved::kOptimal : Solved::kGoodEnough, .values = {}};
  for (std::size_t column = 0; column < program.columns().size(); ++column) {
    const LinearProgram::Column& bounds = program.columns()[column];
    answer.values.push_back(std::clamp(solution[column], bounds.low, bounds.high));
  }
  for (const std::size_t column : whole) answer.values[column] = std::round(answer.values[column]);
  for (std::size_t column = 0; column < answer.values.size(); ++column) {
    answer.objective += program.columns()[column].objective * answer.values[column];
  }
  return answer;
}

}  // namespace tidepool::policies
