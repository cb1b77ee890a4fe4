#include "studies/replay/elasticflow/slot_events.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace tidepool::sim {
namespace {

constexpr double kNoEvent = std::numeric_limits<double>::infinity();
constexpr int kSchedulesPerRestart = 60;

// What a schedule costs the jobs it is charged to.
class Overhead {
 public:
  Overhead(Charge charge, int slots) : charge_(charge), large_(slots >= 256) {}

  // Begins a schedule.
  void begin() {
    restart_ = schedules_ > 0 && schedules_ % kSchedulesPerRestart == 0;
    ++schedules_;
  }
  // Ends it: after a full restart nothing is set up.
  void end() {
    if (restart_) used_.clear();
  }
  [[nodiscard]] bool restart() const { return restart_; }

  // Seconds for a job that holds this; `resumed` = it held nothing before.
  [[nodiscard]] double of(const policies::cluster::Placement& placement, bool resumed) {
    switch (charge_) {
      case Charge::kNone: return 0;
      case Charge::kResumed: return resumed || restart_ ? full(size_of(placement)) : 0;
      case Charge::kArrivals: return full(size_of(placement));
      case Charge::kChanged: break;
    }
    return first_use(placement) ? full(size_of(placement)) : base();
  }

 private:
  [[nodiscard]] double base() const { return large_ ? 7 : 2; }
  [[nodiscard]] double full(int size) const {
    const double restart = restart_ ? (large_ ? 47 : 27) : 0;
    return base() + restart + 2 * (std::log2(size) + 1);
  }
  bool first_use(const policies::cluster::Placement& placement) {
    std::vector<std::pair<int, int>> slots;
    for (const policies::cluster::Share& share : placement) slots.emplace_back(share.node, share.slots);
    return used_.insert(std::move(slots)).second;
  }

  Charge charge_;
  bool large_;
  int schedules_ = 0;
  bool restart_ = false;
  std::set<std::vector<std::pair<int, int>>> used_;
};

class Slots {
 public:
  explicit Slots(const SlotSetup& setup)
      : setup_(setup), account_(setup.account), overhead_(setup.charge, setup.slots) {
    for (const DeadlineJob& job : setup.jobs) {
      account_.add(job.name, job.application, job.submitted_s);
      ReplayAccount::Job& kept = account_.jobs().back();
      kept.report.deadline_s = job.deadline_s;
      kept.row.deadline = instant_of(job.deadline_s);
      kept.row.size_wanted = job.size;
      kept.row.size_max = job.size_max;
      kept.row.largest_seen = job.size_max;
      kept.row.speed = job.speeds;
      progress_.push_back({.left = job.steps});
    }
  }

  Result<SlotRun> run() {
    now_s_ = setup_.jobs.front().submitted_s;
    bool given_up = false;
    while (!given_up && !account_.all_ended() && now_s_ < setup_.limit_s) {
      show();
      overhead_.begin();
      const auto decision = account_.decide(now_s_);
      if (!decision) return decision.error();
      charge();
      overhead_.end();
      const std::optional<double> next_s = next_event(decision->wake_s);
      given_up = !next_s;  // nothing runs and no job is to come: the policy leaves the rest
      if (next_s) pass_time(std::min(*next_s, setup_.limit_s));
    }
    SimResult result = account_.result(now_s_);
    result.cut_off = !result.complete && !given_up;
    return SlotRun{.result = std::move(result), .jobs_looked_at = looked_at_};
  }

 private:
  struct Progress {
    double left = 0;        // steps
    double overhead_s = 0;  // of the present schedule
    bool held = false;      // slots, before it
  };

  // All loops over jobs look at them by these.
  [[nodiscard]] ReplayAccount::Job& job(std::size_t i) {
    ++looked_at_;
    return account_.jobs()[i];
  }
  [[nodiscard]] const ReplayAccount::Job& job(std::size_t i) const {
    ++looked_at_;
    return account_.jobs()[i];
  }
  [[nodiscard]] const DeadlineJob& submitted(std::size_t i) const {
    ++looked_at_;
    return setup_.jobs[i];
  }

  void show() {
    for (; next_arrival() <= now_s_; ++arrived_) account_.show(arrived_);
    for (const std::size_t i : account_.shown()) {
      ReplayAccount::Job& shown = job(i);
      if (setup_.declared_work) shown.row.steps_left = shown.row.useful_left = progress_[i].left;
    }
  }

  [[nodiscard]] double next_arrival() const {
    return arrived_ < setup_.jobs.size() ? submitted(arrived_).submitted_s : kNoEvent;
  }

  [[nodiscard]] bool runs(std::size_t i) const {
    const ReplayAccount::Job& asked = job(i);
    return !asked.ended && !asked.row.placement.empty() && speed(i) > 0;
  }

  [[nodiscard]] double speed(std::size_t i) const {
    return submitted(i).speeds->steps_per_second(0, size_of(job(i).row.placement));
  }

  void charge() {
    const bool free_of_charge = setup_.charge == Charge::kArrivals && next_arrival() == kNoEvent;
    for (const std::size_t i : account_.shown()) {
      const policies::cluster::Placement& placement = job(i).row.placement;
      Progress& progress = progress_[i];
      const bool holds = runs(i);
      progress.overhead_s = holds && !free_of_charge ? overhead_.of(placement, !progress.held) : 0;
      progress.held = holds;
    }
  }

  // Seconds from now until its work is done, without what this schedule costs it.
  [[nodiscard]] double work_s(std::size_t i) const { return std::ceil(progress_[i].left / speed(i)); }

  // Whether an end counts what its last schedule has cost the job: the published runs mostly leave it out.
  [[nodiscard]] bool counts_overhead() const {
    return setup_.charge == Charge::kArrivals || (setup_.charge == Charge::kResumed && overhead_.restart());
  }
  // As reported, and held against the deadline.
  [[nodiscard]] double end_of(std::size_t i) const {
    return now_s_ + work_s(i) + (counts_overhead() ? progress_[i].overhead_s : 0);
  }
  // Whether jobs end when the plan said so, whatever the charge has kept them from doing.
  [[nodiscard]] bool ends_as_planned() const { return setup_.charge == Charge::kChanged; }
  // When the policy is asked because of its end, but for the charge. A policy that plans in slots learns of an end at
  // their boundaries.
  [[nodiscard]] double planned_end(std::size_t i) const {
    return ends_as_planned() ? now_s_ + std::ceil(work_s(i) / setup_.slot_s) * setup_.slot_s : end_of(i);
  }
  [[nodiscard]] double end_event(std::size_t i) const {
    return planned_end(i) + (ends_as_planned() ? progress_[i].overhead_s : 0);
  }

  [[nodiscard]] std::optional<double> next_event(std::optional<double> wake_s) const {
    return setup_.charge == Charge::kArrivals ? next_of(next_arrivals(), now_s_ + setup_.slot_s)
                                              : next_of(planned(wake_s));
  }

  // The first of them, but not within a slot, unless it is the last of all; without any, `otherwise`.
  [[nodiscard]] std::optional<double> next_of(const std::set<double>& events,
                                              std::optional<double> otherwise = std::nullopt) const {
    if (events.empty()) return otherwise;
    const double slot_end_s = now_s_ + setup_.slot_s;
    return *events.begin() <= slot_end_s && events.size() > 1 ? slot_end_s : *events.begin();
  }

  // The first arrival to come, and the last, which stands for all others.
  [[nodiscard]] std::set<double> next_arrivals() const {
    if (next_arrival() == kNoEvent) return {};
    return {next_arrival(), setup_.jobs.back().submitted_s};
  }

  [[nodiscard]] std::set<double> planned(std::optional<double> wake_s) const {
    std::set<double> events;
    double planned_s = next_arrival();
    if (planned_s < kNoEvent) events.insert(planned_s);
    for (const std::size_t i : account_.shown()) {
      if (!runs(i)) continue;
      events.insert(end_event(i));
      planned_s = std::min(planned_s, planned_end(i));
    }
    // A change of plan at the very time of a planned end waits for that end's charge: else the job that ends would be
    // asked about again when only its charge is left, for ever.
    if (wake_s && *wake_s > now_s_ && *wake_s < planned_s) events.insert(*wake_s);
    return events;
  }

  void pass_time(double until_s) {
    const double passed_s = until_s - now_s_;
    for (const std::size_t i : account_.shown()) {
      if (!runs(i)) continue;
      Progress& progress = progress_[i];
      // The charge is taken off the time until the job's end as well: a job may be asked about again a step short of
      // it.
      const double run_s = std::max(0.0, std::min(passed_s, end_of(i) - now_s_) - progress.overhead_s);
      account_.held(i, run_s);
      job(i).report.slot_seconds += (passed_s - run_s) * size_of(job(i).row.placement);
      if ((ends_as_planned() ? end_event(i) : end_of(i)) <= until_s) {
        account_.finished(i, end_of(i));
      } else {
        progress.left = std::max(0.0, progress.left - run_s * speed(i));
      }
    }
    now_s_ = until_s;
  }

  const SlotSetup& setup_;
  ReplayAccount account_;
  Overhead overhead_;
  std::vector<Progress> progress_;
  std::size_t arrived_ = 0;  // jobs submitted by now, the first of all
  double now_s_ = 0;
  mutable std::int64_t looked_at_ = 0;  // jobs
};

}  // namespace

Result<SlotRun> replay_in_slots(const SlotSetup& setup) {
  return Slots(setup).run();
}

}  // namespace tidepool::sim
