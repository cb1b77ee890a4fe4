#include "policies/cluster/queue_grants.hpp"

#include <numeric>
#include <utility>

namespace tidepool::policies::cluster {
namespace {

using core::Reason;
using core::ReasonCode;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

Reason served_reason(const JobRow& job, int size) {
  const int held = size_of(job.placement);
  if (held == 0) return {ReasonCode::kStarted, {{"size", double(size)}}};
  if (held == size) return {ReasonCode::kTurnHold, {{"size", double(size)}}};
  const auto code = size > held ? ReasonCode::kMeritGrow : ReasonCode::kMeritShrink;
  return {code, {{"from", double(held)}, {"to", double(size)}}};
}

Reason waiting_reason(const JobRow& job, const Reason& before) {
  if (before.code == ReasonCode::kTurnWait) return before;
  return {ReasonCode::kTurnWait, {{"needed", double(job.size_min)}, {"free", before.number("free")}}};
}

bool waits_in_line(const Grant& grant) {
  return grant.size == 0 && grant.reason.code != ReasonCode::kNeverFits;
}

// The next job on the other side of the line between those that are served and those that wait.
struct Opposite {
  std::size_t row = kNone;
  int apart = 0;  // places; of a job that waits: all that are served before it
};

class Teller {
 public:
  Teller(const View& view, const Line& line, Allocation& allocation)
      : view_(view), line_(line), allocation_(allocation), rivals_(view.jobs.size()) {
    find_rivals(line.order.empty() ? allocation.order : line.order);
  }

  void tell(std::size_t row) {
    Grant& grant = allocation_.grants[row];
    if (grant.reason.code == ReasonCode::kNeverFits) return;
    const JobRow& job = view_.jobs[row];
    if (grant.reason.code != ReasonCode::kBehindOlderJob) {
      grant.reason = grant.size > 0 ? served_reason(job, grant.size) : waiting_reason(job, grant.reason);
      add_numbers(row, grant.reason);
    }
    const double ahead = margin(row);
    grant.score = grant.size > 0 ? ahead : 0;
    const int other = grant.size > 0 ? 0 : job.size_wanted;
    grant.lost = {{.size = other, .score = grant.size > 0 ? 0 : ahead, .reason = grant.reason}};
  }

 private:
  void find_rivals(const std::vector<std::size_t>& order) {
    Opposite served;
    for (const std::size_t row : order) {
      if (allocation_.grants[row].size > 0) {
        served = {.row = row, .apart = served.apart + 1};
      } else {
        rivals_[row] = served;
      }
    }
    std::size_t waiting = kNone;
    for (std::size_t place = order.size(); place-- > 0;) {
      const std::size_t row = order[place];
      if (waits_in_line(allocation_.grants[row])) waiting = place;
      if (allocation_.grants[row].size == 0 || waiting == kNone) continue;
      rivals_[row] = {.row = order[waiting], .apart = static_cast<int>(waiting - place)};
    }
  }

  void add_numbers(std::size_t row, Reason& reason) const {
    reason.word = line_.measure;
    const std::size_t rival = rivals_[row].row;
    if (!line_.own.empty()) reason.numbers.push_back({"own", line_.own[row]});
    if (rival == kNone) return;
    reason.numbers.push_back({"rival", double(view_.jobs[rival].id.number())});
    if (!line_.own.empty()) reason.numbers.push_back({"bar", line_.own[rival]});
  }

  [[nodiscard]] double margin(std::size_t row) const {
    const Opposite& rival = rivals_[row];
    if (rival.row == kNone) return 0;
    if (!line_.own.empty()) {
      if (const auto ahead = core::measure::lead(line_.measure, line_.own[row], line_.own[rival.row])) return *ahead;
    }
    return allocation_.grants[row].size > 0 ? rival.apart : -rival.apart;
  }

  const View& view_;
  const Line& line_;
  Allocation& allocation_;
  std::vector<Opposite> rivals_;
};

}  // namespace

Line by_arrival(const View& view) {
  Line line{.measure = core::measure::kArrival, .own = {}, .order = std::vector<std::size_t>(view.jobs.size())};
  std::iota(line.order.begin(), line.order.end(), 0);
  return line;
}

void explain_line(const View& view, const Line& line, Allocation& allocation, Told told) {
  if (!view.explained) return;
  Teller teller(view, line, allocation);
  for (const std::size_t row : allocation.order) {
    if (told == Told::kEverybody || allocation.grants[row].size == 0) teller.tell(row);
  }
}

Allocation grant_in_order(const View& view, std::vector<std::size_t> queue, Overtaking overtaking, const Line& line) {
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = std::move(queue)};
  const int all = view.slots();
  int free = all;
  int waiting = 0;
  for (const std::size_t row : allocation.order) {
    const JobRow& job = view.jobs[row];
    Grant& grant = allocation.grants[row];
    grant.mark = job.mark;
    const double needed = job.size_wanted;
    if (job.size_wanted > all) {
      grant.reason = {ReasonCode::kNeverFits, {{"needed", needed}, {"cluster", double(all)}}};
    } else if (overtaking == Overtaking::kNever && waiting > 0) {
      ++waiting;
      grant.reason = {ReasonCode::kBehindOlderJob,
                      {{"ahead", double(waiting - 1)}, {"needed", needed}, {"free", double(free)}}};
    } else if (job.size_wanted > free) {
      ++waiting;
      grant.reason = {ReasonCode::kTurnWait, {{"needed", needed}, {"free", double(free)}}};
    } else {
      free -= job.size_wanted;
      grant.size = job.size_wanted;
      grant.reason = served_reason(job, grant.size);
    }
  }
  explain_line(view, line, allocation);
  return allocation;
}

}  // namespace tidepool::policies::cluster
