#include "studies/replay/gavel/lease_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "studies/replay/known_types.hpp"

namespace tidepool::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Leases {
 public:
  explicit Leases(const LeaseSetup& setup) : setup_(setup), account_(setup.account) {
    for (const LeaseJob& job : setup.jobs) {
      account_.add(job.name, job.application, job.submitted_s);
      policies::cluster::JobRow& row = account_.jobs().back().row;
      const std::vector<int> sizes = job.speeds->sizes();
      row.weight = job.weight;
      row.size_wanted = job.size;
      if (!sizes.empty()) row.size_min = std::min(job.size, sizes.front());
      row.size_max = std::max(job.size, sizes.empty() ? 1 : sizes.back());
      row.largest_seen = row.size_max;
      row.speed = job.speeds;
    }
    left_.reserve(setup.jobs.size());
    for (const LeaseJob& job : setup.jobs) left_.push_back(job.steps);
    bind_to_known_types();
  }

  Result<SimResult> run() {
    now_s_ = setup_.jobs.front().submitted_s;
    while (!account_.all_ended() && now_s_ < setup_.limit_s) {
      show_arrived();
      const auto decision = account_.decide(now_s_);
      if (!decision) return decision.error();
      const double end_s = lease();
      if (end_s > now_s_) {
        now_s_ = end_s;
      } else {
        // Nothing runs: wait for the next job, or, if there is none, for the policy to change its mind.
        const double next_s = next_arrival();
        now_s_ = next_s < kNever ? next_s : now_s_ + setup_.round_s;
      }
    }
    SimResult result = account_.result(now_s_);
    result.cut_off = !result.complete;
    return result;
  }

 private:
  // A policy that names no types must not put a job where it was not measured.
  void bind_to_known_types() {
    const ReplayAccount::Setup& account = setup_.account;
    if (account.types.size() < 2) return;
    known_.reserve(setup_.jobs.size());
    for (const LeaseJob& job : setup_.jobs) known_.emplace_back(*job.speeds, static_cast<int>(account.types.size()));
    if (std::ranges::all_of(known_, &KnownTypes::everywhere)) return;
    policies::cluster::View view{.nodes = account.nodes, .types = account.types};
    view.jobs.push_back(account_.jobs().front().row);
    if (names_types(account.policy, view)) return;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      policies::cluster::JobRow& row = account_.jobs()[i].row;
      row.speed = &known_[i];
      if (!known_[i].everywhere()) row.nodes = known_[i].among(account.nodes);
    }
  }

  void show_arrived() {
    for (; next_arrival() <= now_s_; ++arrived_) account_.show(arrived_);
    if (!setup_.declared_work) return;
    for (const std::size_t i : account_.shown()) {
      policies::cluster::JobRow& row = account_.jobs()[i].row;
      row.steps_left = row.useful_left = static_cast<double>(left_[i]);
    }
  }

  [[nodiscard]] double next_arrival() const {
    return arrived_ < setup_.jobs.size() ? setup_.jobs[arrived_].submitted_s : kNever;
  }

  // Steps a second of what the job holds: spread over several types, it goes at the slowest one's pace.
  [[nodiscard]] double speed_of(std::size_t job) const {
    const policies::cluster::Placement& placement = account_.jobs()[job].row.placement;
    double slowest = kNever;
    for (const policies::cluster::Share& share : placement) {
      const int type = setup_.account.nodes[static_cast<std::size_t>(share.node)].type;
      slowest = std::min(slowest, setup_.jobs[job].speeds->steps_per_second(type, size_of(placement)));
    }
    return slowest;
  }

  // Runs every job that holds slots through this round's lease. The end of the round.
  double lease() {
    double end_s = now_s_;
    for (const std::size_t i : account_.shown()) {
      const ReplayAccount::Job& job = account_.jobs()[i];
      if (job.ended || job.row.placement.empty()) continue;
      const double speed = speed_of(i);
      if (!(speed > 0)) continue;
      const auto fit = std::max<std::int64_t>(1, static_cast<std::int64_t>(speed * setup_.round_s));
      const std::int64_t steps = std::min(fit, left_[i]);
      const double seconds = static_cast<double>(steps) / speed;
      left_[i] -= steps;
      account_.held(i, seconds);
      end_s = std::max(end_s, now_s_ + seconds);
      if (left_[i] == 0) account_.finished(i, now_s_ + seconds);
    }
    return end_s;
  }

  const LeaseSetup& setup_;
  ReplayAccount account_;
  std::vector<std::int64_t> left_;
  std::vector<KnownTypes> known_;  // by job
  std::size_t arrived_ = 0;        // jobs submitted by now, the first of all
  double now_s_ = 0;
};

}  // namespace

Result<SimResult> replay_in_leases(const LeaseSetup& setup) {
  return Leases(setup).run();
}

}  // namespace tidepool::sim
