#include "studies/baselines/gavel_ftf.hpp"

#include <algorithm>

namespace tidepool::policies::cluster {
namespace {

constexpr int kBisections = 40;

// One job's side of rho.
struct Race {
  double elapsed_s = 0;
  double alone_s = 0;  // from its first step to its last, alone
  double steps_left = 0;
};

Race race_of(const JobRow& job, double elapsed_s, double speed_alone, Ledger& ledger) {
  ledger.own.resize(3, 0);
  double& alone_so_far_s = ledger.own[0];
  if (!job.steps_left || !(speed_alone > 0)) return {};
  if (ledger.own[1] > 0) alone_so_far_s += (ledger.own[2] - *job.steps_left) / ledger.own[1];
  ledger.own[1] = speed_alone;
  ledger.own[2] = *job.steps_left;
  return {
      .elapsed_s = elapsed_s, .alone_s = alone_so_far_s + *job.steps_left / speed_alone, .steps_left = *job.steps_left};
}

// Steps a second that each job needs for this rho; below 0 where no speed is enough.
std::vector<double> needed_for(double rho, const std::vector<Race>& races) {
  std::vector<double> needed;
  for (const Race& race : races) {
    const double time_s = rho * race.alone_s - race.elapsed_s;
    needed.push_back(race.steps_left <= 0 ? 0 : time_s > 0 ? race.steps_left / time_s : -1);
  }
  return needed;
}

}  // namespace

TypeTable GavelFtf::plan(const View& view, const TypeTable& speeds, std::vector<Ledger>& ledgers) const {
  const std::vector<double> alone = divided_speeds(view, speeds, Division::kIsolated);
  std::vector<Race> races;
  double low = 0;
  for (std::size_t row = 0; row < speeds.jobs(); ++row) {
    const double elapsed_s = (view.now - view.jobs[row].submitted).to_seconds();
    races.push_back(race_of(view.jobs[row], elapsed_s, alone[row], ledgers[row]));
    if (races.back().alone_s > 0) low = std::max(low, elapsed_s / races.back().alone_s);
  }
  const auto program_for = [&](double rho) {
    ShareProgram program(view);
    program.maximize_least(speeds, needed_for(rho, races));
    return program;
  };
  // Every job can have what it would have alone at the same time, so from now on that bounds rho.
  double high = low + 1;
  for (int step = 0; step < kBisections && high - low > 1e-7 * high; ++step) {
    const double middle = (low + high) / 2;
    const std::vector<double> needed = needed_for(middle, races);
    const bool hopeless = std::any_of(needed.begin(), needed.end(), [](double speed) { return speed < 0; });
    const bool reached = !hopeless && program_for(middle).solve(Optimum::kCorner).objective >= 1;
    (reached ? high : low) = middle;
  }
  return program_for(high).solve(Optimum::kCentre).shares;
}

}  // namespace tidepool::policies::cluster
