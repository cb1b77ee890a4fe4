// How Gavel turns shares of time into rounds (Narayanan et al., OSDI 2020, section 5, and its published simulator): a
// policy says which share of the time each job should run on each slot type; in every round, type by type, the jobs
// with the largest
//   share / (half a round + time run there since the shares were made)
// run, ties to the job that is owed more time from before, then to the larger share, then to the older job. A job that
// does not fit is passed over; slots left over go to jobs of share 0 too. Shares are made anew when the set of jobs has
// changed, but not within kPlanEvery of the last time (except while the clock stands at the start): a job that arrives
// in between keeps its place in the queue, yet waits for the next shares. What a job was owed then is carried over.
// A job's mark: level 1 = it has shares, numbers = Ledger. The cluster's mark: level = jobs that had shares, since =
// when they were made.
#pragma once

#include <vector>

#include "policies/cluster/allocation_policy.hpp"
#include "studies/baselines/time_shares.hpp"

namespace tidepool::policies::cluster {

// What a policy of shares remembers of a job. Vectors have one entry per slot type.
struct Ledger {
  bool planned = false;  // it has shares
  std::vector<double> share;
  std::vector<double> run_s;   // since the shares were made
  std::vector<double> owed_s;  // from earlier shares; below 0 = it had more than its share
  double held_s = 0;           // JobRow::held at the last round
  std::vector<double> own;     // of the policy itself

  // An unplanned ledger where the mark is not one of this policy's.
  [[nodiscard]] static Ledger from(const Mark& mark, std::size_t types);
  [[nodiscard]] Mark mark(Instant now) const;
};

class GavelPolicy : public AllocationPolicy {
 public:
  static constexpr Duration kRound = Duration::seconds(360);
  static constexpr Duration kPlanEvery = Duration::seconds(1'920);

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const final;

 protected:
  // The shares; may read and set each ledger's `own`.
  [[nodiscard]] virtual TypeTable plan(const View& view, const TypeTable& speeds,
                                       std::vector<Ledger>& ledgers) const = 0;
  // A policy that takes all types for equal fills them in an order that differs from round to round; others begin with
  // the first of View::types.
  [[nodiscard]] virtual bool knows_types() const { return true; }
};

}  // namespace tidepool::policies::cluster
