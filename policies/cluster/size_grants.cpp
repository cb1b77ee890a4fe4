#include "policies/cluster/size_grants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "policies/size/scaling_evidence.hpp"

namespace tidepool::policies::cluster {
namespace {

using core::Reason;
namespace reason = core::reason;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kLookedAt = 8;  // sizes above the present one, or as many again: which of them comes next

// What each slot brings a job: of the slots that it would release first, or get next.
struct Slots {
  double brings = 0;
  std::size_t row = 0;
};

// What a row would have to beat.
struct Bar {
  double merit = 0;
  JobId rival;  // the job to which slots bring that; none = to no job
};

class Weigher {
 public:
  Weigher(const View& view, const std::vector<ChosenSize>& chosen, const Weighing& weighing)
      : view_(view), chosen_(chosen), weighing_(weighing), free_(view.slots()) {
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      const int size = chosen[row].size;
      free_ -= size;
      next_.push_back(next_above(row, size));
      if (size > 0) given_.push_back({.brings = brings(row, below(row, size), size), .row = row});
      if (next_[row] > 0) wanted_.push_back({.brings = -brings(row, size, next_[row]), .row = row});
    }
    keep_first(given_);
    keep_first(wanted_);
  }

  void tell(std::size_t row, Grant& grant) const {
    const int size = chosen_[row].size;
    grant.reason = told_of(row);
    for (const int other : std::set<int>{0, below(row, size), next_[row], held(row)}) {
      const double more = worth_of(row, other) - worth_of(row, size);
      if (other == size || !std::isfinite(more)) continue;
      const double each = other > size ? asked_of(row, other - size).merit : offered_of(row).merit;
      Reason why = other > size ? not_more(row, other) : change(row, {other, size});
      grant.lost.push_back({.size = other, .score = more - each * (other - size), .reason = std::move(why)});
    }
    core::sort_best_first(grant.lost);
  }

 private:
  [[nodiscard]] int held(std::size_t row) const { return size_of(view_.jobs[row].placement); }
  [[nodiscard]] double worth_of(std::size_t row, int size) const { return weighing_.worth(row, size); }
  [[nodiscard]] double brings(std::size_t row, int smaller, int larger) const {
    return (worth_of(row, larger) - worth_of(row, smaller)) / (larger - smaller);
  }

  // The next smaller size that is weighed; 0 = none but holding nothing.
  [[nodiscard]] int below(std::size_t row, int size) const {
    const JobRow& job = view_.jobs[row];
    for (int other = size > 0 ? largest_size(job, size - 1) : 0; other > 0; other = largest_size(job, other - 1)) {
      if (std::isfinite(worth_of(row, other))) return other;
    }
    return 0;
  }

  // The larger size whose added slots bring most each; 0 = none is weighed.
  [[nodiscard]] int next_above(std::size_t row, int size) const {
    const JobRow& job = view_.jobs[row];
    const int most = std::min({job.size_max, std::max(2 * size, job.size_min + kLookedAt), view_.slots()});
    const double now = worth_of(row, size);
    int best = 0;
    double most_brought = -kInfinity;
    for (int other = smallest_size(job, size + 1); other > 0 && other <= most; other = smallest_size(job, other + 1)) {
      const double worth = worth_of(row, other);
      if (!std::isfinite(worth)) continue;
      const double each = std::isfinite(now) ? (worth - now) / (other - size) : 0;
      if (best != 0 && each <= most_brought) continue;
      best = other;
      most_brought = each;
    }
    return best;
  }

  // Of two jobs: no job is its own rival.
  static void keep_first(std::vector<Slots>& all) {
    std::erase_if(all, [](const Slots& slots) { return !std::isfinite(slots.brings); });
    std::sort(all.begin(), all.end(),
              [](const Slots& a, const Slots& b) { return std::pair(a.brings, a.row) < std::pair(b.brings, b.row); });
    if (all.size() > 2) all.resize(2);
  }
  [[nodiscard]] static const Slots* first_of_others(const std::vector<Slots>& all, std::size_t row) {
    for (const Slots& slots : all) {
      if (slots.row != row) return &slots;
    }
    return nullptr;
  }

  // What this many additional slots must bring: the least that slots of other jobs bring, while none are free.
  [[nodiscard]] Bar asked_of(std::size_t row, int slots) const {
    const Bar own{.merit = chosen_[row].bar, .rival = {}};
    const Slots* least = free_ >= slots ? nullptr : first_of_others(given_, row);
    if (least == nullptr || least->brings < own.merit) return own;
    return {.merit = least->brings, .rival = view_.jobs[least->row].id};
  }
  // The most that slots given up would bring another.
  [[nodiscard]] Bar offered_of(std::size_t row) const {
    const Slots* most = free_ > 0 ? nullptr : first_of_others(wanted_, row);
    if (most == nullptr || most->brings >= 0) return {};
    return {.merit = -most->brings, .rival = view_.jobs[most->row].id};
  }

  // By the policy's measure; nothing if one of the two sizes is not known to it. `next`: weighed and not taken.
  [[nodiscard]] std::optional<reason::ByMerit> judged(std::size_t row, double merit, const Bar& bar, int next) const {
    if (!std::isfinite(merit)) return std::nullopt;
    reason::ByMerit by{.measure = weighing_.measure, .merit = merit, .asked = bar.merit};
    if (bar.rival) by.rival = bar.rival;
    if (!weighing_.goodput) return by;
    if (chosen_[row].size > 0) by.goodput = weighing_.goodput(row, chosen_[row].size);
    if (next > 0) by.next_goodput = weighing_.goodput(row, next);
    return by;
  }

  [[nodiscard]] Reason told_of(std::size_t row) const {
    const int size = chosen_[row].size;
    const int from = held(row);
    const int next = next_[row];
    const JobRow& job = view_.jobs[row];
    if (size == 0) return not_more(row, next == 0 ? job.size_min : next);
    if (from == 0) {
      reason::Started started{{.size = size}};
      if (const auto by = judged(row, brings(row, 0, size), offered_of(row), 0)) started.by = *by;
      return started;
    }
    if (from != size) return change(row, {from, size});
    if (job.resize_blocked) return reason::PriceHold{{.size = size}};
    if (next == 0) return at_the_top(job, size, free_).reason;
    const bool is_weighed = std::isfinite(brings(row, size, next));
    return is_weighed && chosen_[row].held_for ? *chosen_[row].held_for : not_more(row, next);
  }

  [[nodiscard]] Reason not_more(std::size_t row, int next) const {
    const int size = chosen_[row].size;
    const int free = std::max(0, free_);
    const auto by = judged(row, brings(row, size, next), asked_of(row, next - size), next);
    if (size == 0 && !by) return reason::WaitingForSlots{.needed = next, .free = free};
    if (size == 0) return reason::MeritWait{.needed = next, .free = free, .by = *by};
    if (!by) return reason::FixedSize{{.size = size}};
    return reason::MeritHold{.size = size, .next = next, .free = free, .by = *by};
  }

  [[nodiscard]] Reason change(std::size_t row, std::pair<int, int> from_to) const {
    const reason::Change change{.from = from_to.first, .to = from_to.second};
    const double merit = brings(row, std::min(change.from, change.to), std::max(change.from, change.to));
    const auto by = judged(row, merit, offered_of(row), 0);
    if (!by) return reason::GatherEvidence{change};
    if (change.to > change.from) return reason::MeritGrow{{change, *by}};
    return reason::MeritShrink{{change, *by}};
  }

  const View& view_;
  const std::vector<ChosenSize>& chosen_;
  const Weighing& weighing_;
  int free_;
  std::vector<int> next_;      // by row: the larger size that comes next; 0 = none
  std::vector<Slots> given_;   // that bring least
  std::vector<Slots> wanted_;  // that would bring most; negative
};

}  // namespace

GrantReason at_the_top(const JobRow& job, int size, int free, const std::optional<Reason>& with_room) {
  const int larger = size < job.size_max ? smallest_size(job, size + 1) : 0;
  const int next = larger > 0 ? larger : job.size_beyond;
  if (next == 0) return {reason::AtMax{{.size = size}}, RestsOn::kSizes};
  if (larger == 0 && job.bound) return {*job.bound};
  // Larger sizes are weighed once this one has been measured.
  if (job.scaling != nullptr && size > job.largest_seen) {
    return {reason::Measuring{.steps = 0, .of = job.scaling->every_steps}, RestsOn::kSizes};
  }
  const double now = job.speed->goodput(packed(size, size));
  const double efficiency = (job.speed->goodput(packed(next, next)) - now) / (next - size) / (now / size);
  const double margin = ScalingEvidence::kNoise * size / (next - size);
  if (job.scaling == nullptr || !(now > 0) || !(efficiency <= job.scaling->efficiency_threshold + margin)) {
    if (with_room && larger > 0 && free >= larger - size) return {*with_room};
    return {reason::NoSlotsToGrow{.wanted = next - size, .free = std::max(0, free)}, RestsOn::kSizes};
  }
  const reason::Efficiency by{
      .efficiency = efficiency, .threshold = job.scaling->efficiency_threshold, .margin = margin};
  return {reason::EfficiencySettled{{.size = size, .next = next}, by}, RestsOn::kSizes};
}

Allocation grant_sizes(const View& view, const std::vector<ChosenSize>& chosen, const Weighing& weighing) {
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    Grant& grant = allocation.grants[row];
    grant.size = chosen[row].size;
    grant.mark = view.jobs[row].mark;
    grant.reason = reason::FixedSize{{.size = grant.size}};
  }
  if (view.explained) {
    const Weigher weigher(view, chosen, weighing);
    for (std::size_t row = 0; row < view.jobs.size(); ++row) weigher.tell(row, allocation.grants[row]);
  }
  allocation.order = largest_first(allocation.grants);
  return allocation;
}

std::vector<std::size_t> largest_first(const std::vector<Grant>& grants) {
  std::vector<std::size_t> order(grants.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-grants[a].size, a) < std::pair(-grants[b].size, b);
  });
  return order;
}

std::vector<double> speedup_table(const JobRow& job, int slots_per_node, int most) {
  std::vector<double> table{0};
  double alone = 0;  // seconds that one worker takes, or would
  for (int size = 1; size <= most; ++size) {
    const double seconds = job.speed->step_seconds(packed(size, slots_per_node));
    const bool runs = std::isfinite(seconds) && seconds > 0;
    if (runs && alone == 0) alone = size * seconds;
    table.push_back(runs ? alone / seconds : 0);
  }
  return table;
}

Weighing by_speedup(const std::vector<std::vector<double>>& tables) {
  return {.measure = core::measure::kSpeedup, .worth = [&tables](std::size_t row, int size) {
            const auto& table = tables[row];
            const auto at = static_cast<std::size_t>(size);
            if (size == 0) return table.empty() ? -kInfinity : 0.0;
            return at < table.size() && table[at] > 0 ? table[at] : -kInfinity;
          }};
}

}  // namespace tidepool::policies::cluster
