#include "policies/tidal/reasons.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "policies/cluster/size_grants.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::GrantReason;
using cluster::JobRow;
using cluster::RestsOn;
using core::Reason;
namespace reason = core::reason;

double worth_of(const Curve& curve, int size) {
  const auto at = std::lower_bound(curve.begin(), curve.end(), size,
                                   [](const Choice& choice, int wanted) { return choice.size < wanted; });
  return at != curve.end() && at->size == size ? at->worth : 0;
}

// What each slot is worth between two sizes.
double worth_between(const Curve& curve, int smaller, int larger) {
  return (worth_of(curve, larger) - worth_of(curve, smaller)) / (larger - smaller);
}

// The larger size whose added slots are worth most each; none where the curve ends.
const Choice* steepest_above(const Curve& curve, int size) {
  const double worth = worth_of(curve, size);
  const Choice* best = nullptr;
  double steepest = 0;
  for (const Choice& choice : curve) {
    if (choice.size <= size) continue;
    const double slope = (choice.worth - worth) / (choice.size - size);
    if (best != nullptr && !(slope > steepest)) continue;
    best = &choice;
    steepest = slope;
  }
  return best;
}

constexpr std::size_t kLostMost = 4;  // the least size, the held one, and the next ones on either side

reason::Market market_of(const JobRow& job, double worth, const Terms& terms) {
  reason::Market market{.worth = worth, .price = terms.price};
  if (!terms.rival || terms.rival == job.id) return market;
  market.rival = terms.rival;
  market.rival_worth = terms.rival_worth;
  return market;
}

GrantReason holding(const JobRow& job, const Curve& curve, int size, const Terms& terms) {
  if (job.resize_blocked) return {reason::PriceHold{{.size = size}, market_of(job, 0, terms)}};
  const Choice* next = steepest_above(curve, size);
  if (size >= job.size_max || next == nullptr) {
    // The curve leaves out what would cost more than it brings, such as a worker that boots for longer than is left.
    const int larger = cluster::smallest_size(job, size + 1);
    const double worth = larger > 0 ? worth_between(curve, size, larger) : 0;
    std::optional<Reason> does_not_pay;
    if (worth < terms.price) {
      does_not_pay = reason::PriceHold{{.size = size, .next = larger}, market_of(job, worth, terms)};
    }
    return cluster::at_the_top(job, size, static_cast<int>(terms.free), does_not_pay);
  }
  const double worth = worth_between(curve, size, next->size);
  const bool room = terms.free >= next->size - size;
  const reason::WithNext sizes{.size = size, .next = next->size};
  if (worth > terms.price && room) return {reason::NoRoomTogether{sizes, market_of(job, worth, terms)}};
  return {reason::PriceHold{sizes, market_of(job, worth, terms)}};
}

GrantReason changing(const JobRow& job, const Curve& curve, const reason::Change& change, const Terms& terms) {
  const bool grows = change.from < change.to;
  const double worth =
      grows ? worth_between(curve, change.from, change.to) : worth_between(curve, change.to, change.from);
  const reason::ByPrice by{change, market_of(job, worth, terms)};
  const RestsOn rests_on = terms.price > 0 ? RestsOn::kPrice : RestsOn::kNoPrice;
  return {grows ? Reason(reason::PriceGrow{by}) : Reason(reason::PriceShrink{by}), rests_on};
}

Reason not_more(const JobRow& job, const Curve& curve, std::pair<int, int> from_to, const Terms& terms) {
  const auto [from, to] = from_to;
  const reason::Market market = market_of(job, worth_between(curve, from, to), terms);
  if (from == 0) return reason::PriceWait{.needed = to, .market = market};
  return reason::PriceHold{{.size = from, .next = to}, market};
}

// The size that it waits for, and what each of its slots is worth.
std::pair<int, double> first_size(const JobRow& job, const Curve& curve) {
  const Choice* first = steepest_above(curve, 0);
  if (first == nullptr) return {job.size_min, 0};
  return {first->size, worth_between(curve, 0, first->size)};
}

}  // namespace

Terms terms_of(const Market& market, double free) {
  Terms terms{.price = market.price(), .free = free};
  if (const auto piece = market.last_sold()) {
    terms.rival = piece->job;
    terms.rival_worth = piece->slope;
  }
  return terms;
}

Reason reason_to_wait(const JobRow& job, const Curve& curve, const Terms& terms, bool is_outbid) {
  const auto [needed, worth] = first_size(job, curve);
  const reason::Market market = market_of(job, worth, terms);
  const int free = static_cast<int>(terms.free);
  if (is_outbid) return reason::PriceWait{.needed = needed, .free = free, .market = market};
  return reason::WaitingForSlots{.needed = needed, .free = free, .market = market};
}

GrantReason reason_for(const JobRow& job, const Curve& curve, int size, const Terms& terms) {
  const int held = size_of(job.placement);
  if (size == 0) return {reason_to_wait(job, curve, terms, first_size(job, curve).second < terms.price)};
  if (held == 0) return {reason::Started{{.size = size}, market_of(job, worth_of(curve, size) / size, terms)}};
  return size == held ? holding(job, curve, size, terms) : changing(job, curve, {.from = held, .to = size}, terms);
}

double score_of(const Curve& curve, int size, const Terms& terms) {
  return worth_of(curve, size) - terms.price * size;
}

std::vector<core::Alternative> lost_for(const JobRow& job, const Curve& curve, int size, const Terms& terms) {
  const int held = size_of(job.placement);
  std::vector<core::Alternative> lost;
  lost.reserve(kLostMost);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const int other = curve[i].size;
    const bool next_smaller = other < size && (i + 1 == curve.size() || curve[i + 1].size >= size);
    const bool next_larger = other > size && (i == 0 || curve[i - 1].size <= size);
    const bool weighed = i == 0 || other == held || next_smaller || next_larger;
    if (!weighed || other == size) continue;
    // Why not more: what each slot more is worth. Why not less: what those are that would be given up.
    Reason why = other > size ? not_more(job, curve, {size, other}, terms)
                              : changing(job, curve, {.from = other, .to = size}, terms).reason;
    lost.push_back({.size = other, .score = score_of(curve, other, terms), .reason = std::move(why)});
  }
  core::sort_best_first(lost);
  return lost;
}

void explain_grant(const JobRow& job, const Curve& curve, const Terms& terms, cluster::Grant& grant) {
  grant.reason = reason_for(job, curve, grant.size, terms).reason;
  grant.score = score_of(curve, grant.size, terms);
  grant.lost = lost_for(job, curve, grant.size, terms);
}

}  // namespace tidepool::policies::tidal
