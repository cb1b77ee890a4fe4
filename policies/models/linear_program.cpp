#include "policies/models/linear_program.hpp"

#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace tidepool::policies {
namespace {

// ClpSolve::SolveType and PresolveType, which its C interface takes as numbers.
constexpr int kBarrierWithoutCrossover = 4;
constexpr int kPresolveOff = 1;

// The program as the solvers want it: by column, compressed.
struct Compressed {
  std::vector<int> starts;
  std::vector<int> rows;
  std::vector<double> factors;
  std::vector<double> column_low, column_high, objective, row_low, row_high;

  explicit Compressed(const LinearProgram& program) {
    std::vector<std::vector<std::pair<int, double>>> by_column(program.columns().size());
    for (std::size_t row = 0; row < program.rows().size(); ++row) {
      for (const LinearProgram::Term& term : program.rows()[row].terms) {
        by_column[term.column].emplace_back(static_cast<int>(row), term.factor);
      }
      row_low.push_back(program.rows()[row].low);
      row_high.push_back(program.rows()[row].high);
    }
    starts.push_back(0);
    for (std::size_t column = 0; column < by_column.size(); ++column) {
      for (const auto& [row, factor] : by_column[column]) {
        rows.push_back(row);
        factors.push_back(factor);
      }
      starts.push_back(static_cast<int>(rows.size()));
      column_low.push_back(program.columns()[column].low);
      column_high.push_back(program.columns()[column].high);
      objective.push_back(program.columns()[column].objective);
    }
  }
};

std::vector<double> within_bounds(const LinearProgram& program, const double* values) {
  std::vector<double> kept;
  for (std::size_t column = 0; column < program.columns().size(); ++column) {
    const LinearProgram::Column& limits = program.columns()[column];
    kept.push_back(std::clamp(values[column], limits.low, limits.high));
  }
  return kept;
}

double objective_of(const LinearProgram& program, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t column = 0; column < values.size(); ++column) {
    sum += program.columns()[column].objective * values[column];
  }
  return sum;
}

}  // namespace

LinearAnswer answer_of(const LinearProgram& program, Solved solved, const double* values) {
  LinearAnswer answer{.solved = solved, .values = within_bounds(program, values)};
  answer.objective = objective_of(program, answer.values);
  return answer;
}

LinearAnswer maximize(const LinearProgram& program, Optimum optimum) {
  const Compressed problem(program);
  const std::unique_ptr<Clp_Simplex, decltype(&Clp_deleteModel)> model(Clp_newModel(), &Clp_deleteModel);
  Clp_setLogLevel(model.get(), 0);
  Clp_loadProblem(model.get(), static_cast<int>(program.columns().size()), static_cast<int>(program.rows().size()),
                  problem.starts.data(), problem.rows.data(), problem.factors.data(), problem.column_low.data(),
                  problem.column_high.data(), problem.objective.data(), problem.row_low.data(),
                  problem.row_high.data());
  Clp_setOptimizationDirection(model.get(), -1);
  Clp_setMaximumIterations(model.get(), kIterationsMax);
  if (optimum == Optimum::kCentre) {
    // Presolve would throw columns out at a bound.
    const std::unique_ptr<Clp_Solve, decltype(&ClpSolve_delete)> options(ClpSolve_new(), &ClpSolve_delete);
    ClpSolve_setSolveType(options.get(), kBarrierWithoutCrossover, -1);
    ClpSolve_setPresolveType(options.get(), kPresolveOff, -1);
    Clp_initialSolveWithOptions(model.get(), options.get());
  } else {
    Clp_initialSolve(model.get());
  }
  switch (Clp_status(model.get())) {
    case 0: return answer_of(program, Solved::kOptimal, Clp_primalColumnSolution(model.get()));
    case 1: return {.solved = Solved::kInfeasible, .values = {}};
    case 2: return {.solved = Solved::kUnbounded, .values = {}};
    default: break;
  }
  if (Clp_primalFeasible(model.get()) == 0) return {};
  return answer_of(program, Solved::kGoodEnough, Clp_primalColumnSolution(model.get()));
}

}  // namespace tidepool::policies
