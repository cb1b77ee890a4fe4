#include "policies/cluster/queue_grants.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tidepool::policies::cluster {
namespace {

namespace reason = core::reason;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// How a row stands in its line.
enum class QueueState { kInLine, kBehind, kNeverFits };

core::Reason served_reason(const JobRow& job, int size, const reason::Judgement& by) {
  const int held = size_of(job.placement);
  if (held == 0) return reason::Started{{.size = size}, {}, by};
  if (held == size) return reason::TurnHold{{.size = size}, by};
  if (size > held) return reason::MeritGrow{{{.from = held, .to = size}, by}};
  return reason::MeritShrink{{{.from = held, .to = size}, by}};
}

// The next job on the other side of the line between those that are served and those that wait.
struct Opposite {
  std::size_t row = kNone;
  int apart = 0;  // places; of a job that waits: all that are served before it
};

class Teller {
 public:
  Teller(const View& view, const Line& line, Allocation& allocation, const std::vector<QueueState>& states)
      : view_(view), line_(line), allocation_(allocation), states_(states), rivals_(view.jobs.size()) {
    free_ = view.slots();
    for (const Grant& grant : allocation.grants) free_ -= grant.size;
    find_rivals(line.order.empty() ? allocation.order : line.order);
  }

  void tell_all(ExplainedRows rows) {
    for (const std::size_t row : allocation_.order) {
      if (rows == ExplainedRows::kAll || allocation_.grants[row].size == 0) tell(row);
    }
  }

 private:
  void tell(std::size_t row) {
    Grant& grant = allocation_.grants[row];
    if (states_[row] == QueueState::kNeverFits) return;
    const JobRow& job = view_.jobs[row];
    if (states_[row] == QueueState::kInLine) {
      grant.reason = grant.size > 0 ? served_reason(job, grant.size, turn(row)) : core::Reason(waiting(row));
    }
    const double ahead = margin(row);
    grant.score = grant.size > 0 ? ahead : 0;
    const int other = grant.size > 0 ? 0 : job.size_wanted;
    grant.lost = {{.size = other, .score = grant.size > 0 ? 0 : ahead, .reason = grant.reason}};
  }

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
      const bool is_served = allocation_.grants[row].size > 0;
      if (!is_served && states_[row] != QueueState::kNeverFits) waiting = place;
      if (!is_served || waiting == kNone) continue;
      rivals_[row] = {.row = order[waiting], .apart = static_cast<int>(waiting - place)};
    }
  }

  [[nodiscard]] reason::TurnWait waiting(std::size_t row) const {
    LineWait wait{.needed = view_.jobs[row].size_min, .free = std::max(0, free_)};
    if (!line_.waits.empty()) wait = line_.waits[row];
    return {.needed = wait.needed, .free = wait.free, .ahead = wait.ahead, .by = turn(row)};
  }

  [[nodiscard]] reason::ByTurn turn(std::size_t row) const {
    reason::ByTurn by{.measure = line_.measure};
    const std::size_t rival = rivals_[row].row;
    if (!line_.own.empty()) by.own = line_.own[row];
    if (!line_.shares.empty()) by.share = line_.shares[row];
    if (rival == kNone) return by;
    by.rival = view_.jobs[rival].id;
    if (!line_.own.empty()) by.bar = line_.own[rival];
    return by;
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
  const std::vector<QueueState>& states_;
  int free_ = 0;
  std::vector<Opposite> rivals_;
};

}  // namespace

Line by_arrival(const View& view) {
  Line line{.measure = core::measure::kArrival, .own = {}, .order = std::vector<std::size_t>(view.jobs.size())};
  std::iota(line.order.begin(), line.order.end(), 0);
  return line;
}

std::vector<std::size_t> rows_by(const std::vector<double>& values) {
  std::vector<std::size_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(values[a], a) < std::pair(values[b], b); });
  return rows;
}

void explain_line(const View& view, const Line& line, Allocation& allocation, ExplainedRows rows) {
  if (!view.explained) return;
  const std::vector<QueueState> states(view.jobs.size(), QueueState::kInLine);
  Teller(view, line, allocation, states).tell_all(rows);
}

Allocation grant_in_order(const View& view, std::vector<std::size_t> queue, Overtaking overtaking, const Line& line) {
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = std::move(queue)};
  std::vector<QueueState> states(view.jobs.size(), QueueState::kInLine);
  Line told = line;
  told.waits.resize(view.jobs.size());
  const int all = view.slots();
  int free = all;
  int waiting = 0;
  for (const std::size_t row : allocation.order) {
    const JobRow& job = view.jobs[row];
    Grant& grant = allocation.grants[row];
    grant.mark = job.mark;
    const int needed = job.size_wanted;
    told.waits[row] = {.needed = needed, .free = free};
    if (needed > all) {
      states[row] = QueueState::kNeverFits;
      grant.reason = reason::NeverFits{.needed = needed, .cluster = all};
    } else if (overtaking == Overtaking::kNever && waiting > 0) {
      states[row] = QueueState::kBehind;
      grant.reason = reason::BehindOlderJob{.ahead = waiting++, .needed = needed, .free = free};
    } else if (needed > free) {
      ++waiting;
      grant.reason = reason::TurnWait{.needed = needed, .free = free};
    } else {
      free -= needed;
      grant.size = needed;
      grant.reason = served_reason(job, needed, {});
    }
  }
  if (view.explained) Teller(view, told, allocation, states).tell_all(ExplainedRows::kAll);
  return allocation;
}

}  // namespace tidepool::policies::cluster
