#include "studies/baselines/choice_program.hpp"

#include <CbcModel.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>

#include <algorithm>

#include "studies/models/branch_and_cut.hpp"

namespace tidepool::policies::cluster {
namespace {

// Row i of the matrix belongs to job i; the rows of the capacities come after them.
void load(const ChoiceProgram& program, OsiClpSolverInterface& solver) {
  const std::size_t jobs = program.jobs.size();
  CoinPackedMatrix matrix(/*colordered=*/true, 0, 0);
  matrix.setDimensions(static_cast<int>(jobs + program.capacity.size()), 0);
  std::vector<double> cost;
  for (std::size_t job = 0; job < jobs; ++job) {
    for (const ChoiceProgram::Option& option : program.jobs[job]) {
      const int rows[] = {static_cast<int>(job), static_cast<int>(jobs + option.kind)};
      const double values[] = {1, double(option.slots)};
      matrix.appendCol(2, rows, values);
      cost.push_back(option.cost);
    }
  }
  std::vector<double> above(jobs, 1);
  for (const int capacity : program.capacity) above.push_back(capacity);
  const std::vector<double> zeros(std::max(cost.size(), above.size()), 0);
  const std::vector<double> ones(cost.size(), 1);
  const std::vector<double> below(above.size(), -solver.getInfinity());
  solver.loadProblem(matrix, zeros.data(), ones.data(), cost.data(), below.data(), above.data());
  for (int column = 0; column < static_cast<int>(cost.size()); ++column) solver.setInteger(column);
}

}  // namespace

ChoiceAnswer solve(const ChoiceProgram& program) {
  ChoiceAnswer answer{.chosen = std::vector<std::optional<std::size_t>>(program.jobs.size())};
  const bool empty = std::ranges::all_of(program.jobs, [](const auto& options) { return options.empty(); });
  if (empty) return answer;
  OsiClpSolverInterface solver;
  solver.setHintParam(OsiDoReducePrint, true, OsiHintTry);
  load(program, solver);
  CbcModel model(solver);
  relax(model, {.gap = program.gap, .nodes_max = program.nodes_max, .passes_max = {}});
  model.branchAndBound();
  answer.bound = model.getBestPossibleObjValue();
  const double* solution = model.bestSolution();
  if (solution == nullptr) return answer;  // out of nodes before the first: nothing is chosen, which costs 0
  answer.cost = model.getObjValue();
  int column = 0;
  for (std::size_t job = 0; job < program.jobs.size(); ++job) {
    for (std::size_t option = 0; option < program.jobs[job].size(); ++option) {
      if (solution[column++] > 0.5) answer.chosen[job] = option;
    }
  }
  return answer;
}

}  // namespace tidepool::policies::cluster
