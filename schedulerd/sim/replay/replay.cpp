#include "schedulerd/sim/replay/replay.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "policies/cluster/allocation_check.hpp"

namespace tidepool::sim {
namespace {

namespace cluster = policies::cluster;

constexpr std::int64_t kStepBudget = 100'000'000;  // a round; reached by no policy that is sound

Instant at_second(std::int64_t second) {
  return Instant::from_micros(second * 1'000'000);
}

class Rounds {
 public:
  explicit Rounds(ReplaySetup& setup) : setup_(setup) {
    for (int node = 0; node < setup_.cluster.nodes; ++node) {
      nodes_.push_back({.id = NodeId(static_cast<std::uint64_t>(node) + 1), .slots = setup_.cluster.slots_per_node});
    }
    for (std::size_t i = 0; i < setup_.jobs.size(); ++i) {
      const ReplayJob& job = setup_.jobs[i];
      Books& books = books_.emplace_back();
      books.row.id = books.report.id = JobId(i + 1);
      books.row.submitted = at_second(job.submitted_s);
      books.report.name = job.name;
      books.report.application = job.application;
      books.report.submitted_s = double(job.submitted_s);
    }
  }

  Result<SimResult> run() {
    while (ended_.size() < books_.size() && now_s_ < setup_.limit_s) {
      TP_TRY(pass_time());
      TP_TRY(decide());
    }
    return result();
  }

 private:
  struct Books {
    cluster::JobRow row;
    JobRow report;
    bool ended = false;
  };

  // Who lies on several nodes beside another job that does.
  void disturb() {
    if (setup_.interference <= 0) return;
    const auto spread = [](const Books& books) { return !books.ended && books.row.placement.size() > 1; };
    std::vector<int> spread_jobs(nodes_.size());
    for (const Books& books : books_) {
      if (!spread(books)) continue;
      for (const cluster::Share& share : books.row.placement) ++spread_jobs[static_cast<std::size_t>(share.node)];
    }
    for (std::size_t i = 0; i < books_.size(); ++i) {
      const auto& placement = books_[i].row.placement;
      const bool beside = spread(books_[i]) && std::any_of(placement.begin(), placement.end(), [&](const auto& share) {
                            return spread_jobs[static_cast<std::size_t>(share.node)] > 1;
                          });
      setup_.jobs[i].training->disturb(beside ? setup_.interference : 0);
    }
  }

  Status pass_time() {
    disturb();
    for (std::size_t i = 0; i < books_.size(); ++i) {
      Books& books = books_[i];
      if (books.ended) continue;
      Training& training = *setup_.jobs[i].training;
      TP_TRY(training.advance(setup_.round_s));
      books.report.slot_seconds = books.row.slot_seconds = training.slot_seconds();
      if (!books.row.placement.empty()) books.row.held += Duration::seconds(setup_.round_s);
      if (const auto finished = training.finished_s()) {
        books.ended = true;
        ended_.push_back(training.slot_seconds());
        books.report.finished_s = double(*finished);
        books.report.state = core::JobState::kSucceeded;
        books.report.hold(double(*finished), 0);
      }
    }
    now_s_ += setup_.round_s;
    return ok_status();
  }

  [[nodiscard]] cluster::View view() {
    cluster::View view{.now = at_second(now_s_), .nodes = nodes_, .jobs = {}, .ended_slot_seconds = ended_};
    shown_.clear();
    for (std::size_t i = 0; i < books_.size(); ++i) {
      Books& books = books_[i];
      if (books.ended || books.row.submitted > view.now) continue;
      setup_.jobs[i].training->describe(books.row);
      view.jobs.push_back(books.row);
      shown_.push_back(i);
    }
    return view;
  }

  Status decide() {
    const cluster::View view = this->view();
    if (view.jobs.empty()) return ok_status();
    core::StepBudget budget(kStepBudget);
    const std::int64_t begin = setup_.stopwatch_ns ? setup_.stopwatch_ns() : 0;
    const cluster::Allocation allocation = setup_.policy.allocate(view, budget);
    TP_TRY(cluster::check_allocation(view, allocation));
    const std::vector<cluster::Placement> placements = policies::lay_out(setup_.place, view, allocation);
    TP_TRY(cluster::check_placements(view, allocation, placements));
    if (setup_.stopwatch_ns) decide_ns_.push_back(setup_.stopwatch_ns() - begin);
    if (allocation.bound > 0) gaps_.push_back((allocation.bound - allocation.worth) / allocation.bound);
    bool changed = false;
    for (std::size_t row = 0; row < placements.size(); ++row) {
      Books& books = books_[shown_[row]];
      books.row.mark = allocation.grants[row].mark;
      if (placements[row] == books.row.placement) continue;
      changed = true;
      note(books, allocation.grants[row], placements[row]);
      move(shown_[row], placements[row]);
    }
    decisions_ += changed ? 1 : 0;
    return ok_status();
  }

  void note(const Books& books, const cluster::Grant& grant, const cluster::Placement& placement) {
    digest_.mix(static_cast<std::uint64_t>(now_s_)).mix(books.row.id.number()).mix(placement.size());
    for (const cluster::Share& share : placement) {
      digest_.mix(static_cast<std::uint64_t>(share.node)).mix(static_cast<std::uint64_t>(share.slots));
    }
    if (!setup_.keep_decisions) return;
    nlohmann::ordered_json line{{"at_s", now_s_}, {"job", books.report.name}, {"from", size_of(books.row.placement)}};
    line["to"] = grant.size;
    line["nodes"] = nlohmann::ordered_json::array();
    for (const cluster::Share& share : placement) line["nodes"].push_back({share.node, share.slots});
    line["reason"] = core::to_text(grant.reason.code);
    for (const core::ReasonNumber& number : grant.reason.numbers) line["numbers"][number.name] = number.value;
    lines_.push_back(line.dump());
  }

  void move(std::size_t job, const cluster::Placement& placement) {
    Books& books = books_[job];
    const bool held = !books.row.placement.empty();
    if (held && placement.empty()) ++books.report.preemptions;
    if (held && !placement.empty()) ++books.report.resizes;
    if (!placement.empty() && books.report.started_s) ++books.row.resizes;
    if (!placement.empty() && !books.report.started_s) books.report.started_s = double(now_s_);
    books.report.state = placement.empty() ? core::JobState::kSuspended : core::JobState::kRunning;
    books.row.placement = placement;
    books.report.hold(double(now_s_), size_of(placement));
    std::vector<int> slots;
    for (const cluster::Share& share : placement) slots.push_back(share.slots);
    setup_.jobs[job].training->hold(slots);
  }

  [[nodiscard]] SimResult result() {
    SimResult result;
    for (Books& books : books_) result.rows.push_back(std::move(books.report));
    result.decisions = decisions_;
    result.decide_ns = std::move(decide_ns_);
    result.gaps = std::move(gaps_);
    result.decision_lines = std::move(lines_);
    result.digest = digest_.value();
    result.complete = ended_.size() == books_.size();
    result.end = Duration::seconds(now_s_);
    return result;
  }

  ReplaySetup& setup_;
  std::vector<cluster::NodeRow> nodes_;
  std::vector<Books> books_;
  std::vector<std::size_t> shown_;  // row of the view -> job
  std::vector<double> ended_;       // slot-seconds of each job that has ended
  std::int64_t now_s_ = 0;
  std::int64_t decisions_ = 0;
  std::vector<std::int64_t> decide_ns_;
  std::vector<double> gaps_;
  std::vector<std::string> lines_;
  Digest digest_;
};

}  // namespace

Result<SimResult> replay(ReplaySetup& setup) {
  return Rounds(setup).run();
}

}  // namespace tidepool::sim
