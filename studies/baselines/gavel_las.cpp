#include "studies/baselines/gavel_las.hpp"

namespace tidepool::policies::cluster {

TypeTable GavelLasPerf::plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& /*ledgers*/) const {
  const std::vector<double> fair = divided_speeds(view, speeds, Division::kProportional);
  TypeTable factors = speeds;
  std::vector<double> needed;
  for (std::size_t row = 0; row < speeds.jobs(); ++row) {
    const JobRow& job = view.jobs[row];
    needed.push_back(fair[row] > 0 ? 1 : 0);
    if (!(fair[row] > 0)) continue;
    for (std::size_t type = 0; type < speeds.types(); ++type) {
      factors.at(row, type) *= job.size_wanted / (job.weight * fair[row]);
    }
  }
  ShareProgram program(view);
  program.maximize_least(factors, needed);
  return program.solve_at_path_end().shares;
}

TypeTable GavelLas::plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const {
  return GavelLasPerf::plan(view, TypeTable(speeds.jobs(), speeds.types(), 1), ledgers);
}

}  // namespace tidepool::policies::cluster
