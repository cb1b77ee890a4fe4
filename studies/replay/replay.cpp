#include "studies/replay/replay.hpp"

#include <algorithm>

#include "studies/replay/replay_account.hpp"

namespace tidepool::sim {
namespace {

namespace cluster = policies::cluster;

std::vector<cluster::NodeRow> nodes_of(const ClusterShape& shape) {
  std::vector<cluster::NodeRow> nodes;
  for (int node = 1; node <= shape.nodes; ++node) {
    nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(node)),
                     .slots = shape.slots_per_node,
                     .slot_type = shape.slot_type,
                     .price_per_hour = shape.price_per_slot_hour.to_units()});
  }
  return nodes;
}

class Rounds {
 public:
  explicit Rounds(ReplaySetup& setup)
      : setup_(setup),
        account_({.policy = setup.policy,
                  .place = setup.place,
                  .nodes = nodes_of(setup.cluster),
                  .types = {},
                  .stopwatch_ns = setup.stopwatch_ns,
                  .keep_decisions = setup.keep_decisions,
                  .on_progress = setup.on_progress}) {
    for (const ReplayJob& job : setup_.jobs) account_.add(job.name, job.application, job.submitted_s);
  }

  Result<SimResult> run() {
    while (!account_.all_ended() && double(now_s_) < setup_.limit_s) {
      TP_TRY(pass_time());
      TP_TRY(decide());
    }
    SimResult result = account_.result(double(now_s_));
    result.cut_off = !result.complete;
    return result;
  }

 private:
  // Slows jobs that lie on several nodes and share one of them with another such job.
  void disturb() {
    if (setup_.interference <= 0) return;
    const auto spread = [](const ReplayAccount::Job& job) { return !job.ended && job.row.placement.size() > 1; };
    const std::vector<ReplayAccount::Job>& jobs = account_.jobs();
    std::vector<int> spread_jobs(static_cast<std::size_t>(setup_.cluster.nodes));
    for (const std::size_t i : account_.shown()) {
      if (!spread(jobs[i])) continue;
      for (const cluster::Share& share : jobs[i].row.placement) ++spread_jobs[static_cast<std::size_t>(share.node)];
    }
    for (const std::size_t i : account_.shown()) {
      const auto& placement = jobs[i].row.placement;
      const bool beside = spread(jobs[i]) && std::any_of(placement.begin(), placement.end(), [&](const auto& share) {
                            return spread_jobs[static_cast<std::size_t>(share.node)] > 1;
                          });
      setup_.jobs[i].training->disturb(beside ? setup_.interference : 0);
    }
  }

  Status pass_time() {
    disturb();
    for (const std::size_t i : account_.shown()) {
      ReplayAccount::Job& job = account_.jobs()[i];
      if (job.ended) continue;  // declined
      Training& training = *setup_.jobs[i].training;
      TP_TRY(training.advance(now_s_, setup_.round_s));
      job.report.slot_seconds = job.row.slot_seconds = training.slot_seconds();
      if (!job.row.placement.empty()) job.row.held += Duration::seconds(setup_.round_s);
      if (const auto finished = training.finished_s()) account_.finished(i, double(*finished));
    }
    now_s_ += setup_.round_s;
    return ok_status();
  }

  Status decide() {
    for (; arrived_ < setup_.jobs.size() && setup_.jobs[arrived_].submitted_s <= double(now_s_); ++arrived_) {
      account_.show(arrived_);
    }
    for (const std::size_t i : account_.shown()) {
      ReplayAccount::Job& job = account_.jobs()[i];
      if (!job.ended) setup_.jobs[i].training->describe(job.row);
    }
    const auto decision = account_.decide(double(now_s_));
    if (!decision) return decision.error();
    for (const std::size_t moved : decision->moved) {
      std::vector<int> slots;
      for (const cluster::Share& share : account_.jobs()[moved].row.placement) slots.push_back(share.slots);
      setup_.jobs[moved].training->hold(slots);
    }
    return ok_status();
  }

  ReplaySetup& setup_;
  ReplayAccount account_;
  std::size_t arrived_ = 0;  // jobs submitted by now, the first of all
  std::int64_t now_s_ = 0;
};

}  // namespace

Result<SimResult> replay(ReplaySetup& setup) {
  return Rounds(setup).run();
}

}  // namespace tidepool::sim
