#include "policies/tidal/reasons.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "policies/cluster/size_grants.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using core::Reason;
using core::ReasonCode;

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

struct Figure {
  const char* name;
  double value;
};
constexpr std::size_t kPricedMost = 4;
constexpr std::size_t kLostMost = 4;  // the least size, the held one, and the next ones on either side

// With room for the price: a plan makes a reason for every job, so none is put together in parts.
Reason told(ReasonCode code, std::initializer_list<Figure> figures) {
  Reason reason{code, {}};
  reason.numbers.reserve(figures.size() + kPricedMost);
  for (const Figure& figure : figures) reason.numbers.push_back({figure.name, figure.value});
  return reason;
}

Reason priced(Reason reason, const JobRow& job, double worth, const Terms& terms) {
  reason.numbers.push_back({"worth", worth});
  reason.numbers.push_back({"price", terms.price});
  if (terms.rival && terms.rival != job.id) {
    reason.numbers.push_back({"rival", static_cast<double>(terms.rival.number())});
    reason.numbers.push_back({"rival_worth", terms.rival_worth});
  }
  return reason;
}

// A slot is worth less to it than its price; or it is worth that, and what is free does not make a size.
Reason waiting(const JobRow& job, const Curve& curve, const Terms& terms) {
  const Choice* first = steepest_above(curve, 0);
  const int needed = first == nullptr ? job.size_min : first->size;
  const double worth = first == nullptr ? 0 : worth_between(curve, 0, needed);
  const bool outbid = worth < terms.price;
  const auto code = outbid ? ReasonCode::kPriceWait : ReasonCode::kWaitingForSlots;
  return priced(told(code, {{"needed", double(needed)}, {"free", terms.free}}), job, worth, terms);
}

Reason holding(const JobRow& job, const Curve& curve, int size, const Terms& terms) {
  if (job.frozen) return priced(told(ReasonCode::kPriceHold, {{"size", double(size)}, {"next", 0}}), job, 0, terms);
  const Choice* next = steepest_above(curve, size);
  if (size >= job.size_max || next == nullptr) return cluster::at_the_top(job, size);
  const double worth = worth_between(curve, size, next->size);
  const bool room = terms.free >= next->size - size;
  const auto code = worth > terms.price && room ? ReasonCode::kNoRoomTogether : ReasonCode::kPriceHold;
  return priced(told(code, {{"size", double(size)}, {"next", double(next->size)}}), job, worth, terms);
}

Reason changing(const JobRow& job, const Curve& curve, std::pair<int, int> from_to, const Terms& terms) {
  const auto [from, to] = from_to;
  const double worth = from < to ? worth_between(curve, from, to) : worth_between(curve, to, from);
  const auto code = from < to ? ReasonCode::kPriceGrow : ReasonCode::kPriceShrink;
  return priced(told(code, {{"from", double(from)}, {"to", double(to)}}), job, worth, terms);
}

Reason not_more(const JobRow& job, const Curve& curve, std::pair<int, int> from_to, const Terms& terms) {
  const auto [from, to] = from_to;
  Reason reason = from == 0 ? told(ReasonCode::kPriceWait, {{"needed", double(to)}})
                            : told(ReasonCode::kPriceHold, {{"size", double(from)}, {"next", double(to)}});
  return priced(std::move(reason), job, worth_between(curve, from, to), terms);
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

Reason reason_for(const JobRow& job, const Curve& curve, int size, const Terms& terms) {
  const int held = size_of(job.placement);
  if (size == 0) return waiting(job, curve, terms);
  if (held == 0) {
    return priced(told(ReasonCode::kStarted, {{"size", double(size)}}), job, worth_of(curve, size) / size, terms);
  }
  return size == held ? holding(job, curve, size, terms) : changing(job, curve, {held, size}, terms);
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
    Reason reason =
        other > size ? not_more(job, curve, {size, other}, terms) : changing(job, curve, {other, size}, terms);
    lost.push_back({.size = other, .score = score_of(curve, other, terms), .reason = std::move(reason)});
  }
  std::sort(lost.begin(), lost.end(), [](const core::Alternative& a, const core::Alternative& b) {
    return std::pair(-a.score, a.size) < std::pair(-b.score, b.size);
  });
  return lost;
}

}  // namespace tidepool::policies::tidal
