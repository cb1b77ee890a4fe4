#include "policies/tidal/market.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "base/id_set.hpp"

namespace tidepool::policies::tidal {
namespace {

// How many pieces past the price are looked at for the slots that the next piece is too wide for.
constexpr int kBesideMax = 64;
// For how many of these jobs it is asked whether what is left is kept for them.
constexpr int kKeepTriesMax = 4;
constexpr int kNoLimit = std::numeric_limits<int>::max();
// Up to this fraction (1/n) of bids is replaced one by one.
constexpr std::size_t kFew = 8;

}  // namespace

MarginalBid Market::piece_of(JobId job, const Bid& bid, std::size_t corner) {
  const Choice& from = bid.curve[bid.corners[corner - 1]];
  const Choice& to = bid.curve[bid.corners[corner]];
  return {.slope = (to.worth - from.worth) / (to.size - from.size),
          .job = job,
          .corner = static_cast<std::uint32_t>(corner),
          .width = to.size - from.size};
}

void Market::take_out(JobId job, const Bid& bid) {
  for (std::size_t corner = 1; corner < bid.corners.size(); ++corner) pieces_.erase(piece_of(job, bid, corner));
  least_ -= bid.curve.front().size;
}

bool Market::bids_so(JobId job, const Curve& curve) const {
  const auto kept = bids_.find(job);
  return kept != bids_.end() && kept->second.curve == curve;
}

void Market::bid(JobId job, Curve curve) {
  if (bids_so(job, curve)) return;
  Bid made{.curve = std::move(curve), .corners = {}};
  made.corners = hull_of(made.curve);
  Bid& kept = bids_[job];
  if (!kept.curve.empty()) take_out(job, kept);
  kept = std::move(made);
  for (std::size_t corner = 1; corner < kept.corners.size(); ++corner) pieces_.insert(piece_of(job, kept, corner));
  least_ += kept.curve.front().size;
  touched_.insert(job);
}

void Market::leave(JobId job) {
  const auto found = bids_.find(job);
  if (found == bids_.end()) return;
  take_out(job, found->second);
  bids_.erase(found);
  touched_.insert(job);
}

void Market::bid(std::vector<std::pair<JobId, Curve>> bids) {
  std::erase_if(bids, [&](const auto& made) { return bids_so(made.first, made.second); });
  if (bids.size() * kFew <= bids_.size()) {
    for (auto& [job, curve] : bids) bid(job, std::move(curve));
    return;
  }
  for (auto& [job, curve] : bids) {
    Bid& kept = bids_[job];
    kept.curve = std::move(curve);
    kept.corners = hull_of(kept.curve);
    touched_.insert(job);
  }
  reorder();
}

void Market::reorder() {
  std::vector<MarginalBid> bids;
  least_ = 0;
  for (const auto& [job, bid] : bids_) {
    for (std::size_t corner = 1; corner < bid.corners.size(); ++corner) bids.push_back(piece_of(job, bid, corner));
    least_ += bid.curve.front().size;
  }
  pieces_.assign(std::move(bids));
}

// How many of its corners a job has bought in the order of slopes, the first included.
std::size_t Market::bought_in_order(JobId job, const Bid& bid) const {
  std::size_t corner = bid.corners.size() - 1;
  if (next_) {
    while (corner > 0 && !sold_before(piece_of(job, bid, corner), *next_)) --corner;
  }
  return bid.corners[corner];
}

std::size_t Market::chosen(JobId job, const Bid& bid) const {
  const auto found = beside_.find(job);
  return found != beside_.end() ? found->second : bought_in_order(job, bid);
}

const Choice& Market::choice(JobId job) const {
  const Bid& bid = bids_.at(job);
  return bid.curve[chosen(job, bid)];
}

// The jobs whose pieces lie between two frontiers.
void Market::note_between(const std::optional<MarginalBid>& before, const std::optional<MarginalBid>& now,
                          core::StepBudget& budget) {
  if (!before && !now) return;
  const bool rises = !before || (now && sold_before(*now, *before));  // fewer pieces are bought than before
  const std::optional<MarginalBid>& from = rises ? now : before;
  const std::optional<MarginalBid>& to = rises ? before : now;
  touched_.insert(from->job);
  for (auto at = pieces_.after(*from); at && (!to || sold_before(*at, *to)); at = pieces_.after(*at)) {
    touched_.insert(at->job);
    budget.spend();
  }
}

// The step with the highest worth per slot among those that fit into the free slots, for jobs next to the price.
Market::Step Market::steepest_step(const IdTable<JobId, int>& beside) const {
  Step best;
  for (const auto& [job, most] : beside) {
    const Bid& bid = bids_.at(job);
    const std::size_t now = chosen(job, bid);
    for (std::size_t to = now + 1; to < bid.curve.size(); ++to) {
      const int width = bid.curve[to].size - bid.curve[now].size;
      if (width > free_ || bid.curve[to].size > most) break;
      const double slope = (bid.curve[to].worth - bid.curve[now].worth) / width;
      if (slope > best.slope) best = {.slope = slope, .job = job, .to = to, .width = width};
    }
  }
  return best;
}

// Requires: the piece found no room in the order of slopes.
std::optional<Market::Short> Market::short_of_room(const MarginalBid& piece) const {
  const Curve& curve = bids_.at(piece.job).curve;
  const bool has_nothing = piece.corner == 1 && curve.front().size == 0;
  if (!has_nothing || curve[1].size <= free_) return std::nullopt;
  return Short{.piece = piece, .needed = curve[1].size, .left = free_};
}

Market::Beside Market::beside(const Keeps& keeps) const {
  Beside found;
  MostBehind most;
  int asked = 0;
  std::optional<MarginalBid> at = next_;
  for (int seen = 0; at && seen < kBesideMax; ++seen, at = pieces_.after(*at)) {
    if (keeps && !most && asked < kKeepTriesMax) {
      const auto lacking = short_of_room(*at);
      asked += lacking ? 1 : 0;
      if (lacking) most = keeps(*lacking);
    }
    found.most.try_emplace(at->job, most ? most(at->job) : kNoLimit);
  }
  found.is_kept = static_cast<bool>(most);
  return found;
}

// Whether what is still left is kept for a job.
bool Market::sell_rest(const Keeps& keeps, core::StepBudget& budget) {
  if (!next_ || free_ <= 0) return false;
  const Beside found = beside(keeps);
  while (free_ > 0 && budget.spend(static_cast<std::int64_t>(found.most.size()))) {
    const Step step = steepest_step(found.most);
    if (step.slope <= 0) break;
    beside_[step.job] = step.to;
    free_ -= step.width;
  }
  return found.is_kept;
}

Market::Settlement Market::settle(core::StepBudget& budget, const Keeps& keeps) {
  for (const auto& [job, choice] : beside_) touched_.insert(job);
  beside_.clear();
  const OrderedBids::Frontier frontier = pieces_.frontier(std::max<std::int64_t>(0, slots_ - least_));
  budget.spend(static_cast<std::int64_t>(touched_.size()));
  if (settled_) {
    note_between(next_, frontier.next, budget);
  } else {
    for (const auto& [job, bid] : bids_) touched_.insert(job);
  }
  settled_ = true;
  next_ = frontier.next;
  free_ = std::max<std::int64_t>(0, slots_ - least_ - frontier.used);
  const bool is_kept = sell_rest(keeps, budget);
  for (const auto& [job, choice] : beside_) touched_.insert(job);
  return {.price = price(), .free = free_, .kept = is_kept ? free_ : 0, .changed = std::exchange(touched_, {})};
}

double Market::worth() const {
  double sum = 0;
  for (const auto& [job, bid] : bids_) sum += bid.curve[chosen(job, bid)].worth;
  return sum;
}

double Market::bound() const {
  double sum = 0;
  std::int64_t used = 0;
  for (const auto& [job, bid] : bids_) {
    const Choice& choice = bid.curve[bought_in_order(job, bid)];
    sum += choice.worth;
    used += choice.size;
  }
  return sum + price() * static_cast<double>(std::max<std::int64_t>(0, slots_ - used));
}

}  // namespace tidepool::policies::tidal
