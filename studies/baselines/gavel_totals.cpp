#include "studies/baselines/gavel_totals.hpp"

namespace tidepool::policies::cluster {
namespace {

TypeTable largest_sum(const View& view, const TypeTable& worth) {
  ShareProgram program(view);
  program.reward(worth);
  return program.solve(Optimum::kCorner).shares;
}

}  // namespace

TypeTable GavelMaxSum::plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& /*ledgers*/) const {
  return largest_sum(view, speeds);
}

TypeTable GavelCost::plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& /*ledgers*/) const {
  TypeTable worth = speeds;
  for (std::size_t type = 0; type < view.types.size(); ++type) {
    const double price = view.types[type].price_per_hour;
    for (std::size_t row = 0; row < worth.jobs() && price > 0; ++row) worth.at(row, type) /= price;
  }
  return largest_sum(view, worth);
}

TypeTable GavelMakespan::plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& /*ledgers*/) const {
  std::vector<double> needed;
  for (std::size_t row = 0; row < speeds.jobs(); ++row) {
    bool runs = false;
    for (std::size_t type = 0; type < speeds.types(); ++type) runs = runs || speeds.at(row, type) > 0;
    needed.push_back(runs ? view.jobs[row].steps_left.value_or(1) : 0);
  }
  ShareProgram program(view);
  program.maximize_least(speeds, needed);
  return program.solve(Optimum::kCentre).shares;
}

}  // namespace tidepool::policies::cluster
