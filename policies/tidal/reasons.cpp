#include "policies/tidal/reasons.hpp"

#include <algorithm>
#include <set>
#include <utility>

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

Reason waiting(const Curve& curve, const Terms& terms) {
  Choice first = curve.size() > 1 ? curve[1] : Choice{.size = 1};
  for (const Choice& choice : curve) {
    if (choice.size > 0 && choice.worth / choice.size > first.worth / first.size) first = choice;
  }
  return {ReasonCode::kWaitingForSlots,
          {{"needed", double(first.size)},
           {"free", terms.free},
           {"worth", 0},
           {"price", terms.price},
           {"bid", first.worth / first.size}}};
}

// The next size above in the curve; the one after it in count when there is none.
int next_above(const Curve& curve, int size) {
  const auto at = std::upper_bound(curve.begin(), curve.end(), size,
                                   [](int wanted, const Choice& choice) { return wanted < choice.size; });
  return at != curve.end() ? at->size : size + 1;
}

}  // namespace

Reason reason_for(const JobRow& job, const Curve& curve, int size, const Terms& terms) {
  const int held = size_of(job.placement);
  if (size == 0) return waiting(curve, terms);
  const double worth = worth_of(curve, size);
  const auto with = [&](ReasonCode code, std::vector<core::ReasonNumber> numbers) {
    numbers.push_back({"worth", worth});
    numbers.push_back({"price", terms.price});
    return Reason{code, std::move(numbers)};
  };
  if (held == 0) return with(ReasonCode::kStarted, {{"size", double(size)}});
  if (size == held && size == job.size_max) return with(ReasonCode::kAtMax, {{"size", double(size)}});
  // What the change is worth, against what its slots cost elsewhere.
  const int other = size == held ? next_above(curve, size) : held;
  const double gain = size == held ? worth_of(curve, other) - worth : worth - worth_of(curve, held);
  const double cost = terms.price * (size == held ? other - size : size - held);
  if (size == held) {
    return with(ReasonCode::kUtilitySettled,
                {{"size", double(size)}, {"next", double(other)}, {"utility_gain", gain}, {"cost_gain", cost}});
  }
  return with(size > held ? ReasonCode::kUtilityUp : ReasonCode::kUtilityDown,
              {{"from", double(held)}, {"to", double(size)}, {"utility_gain", gain}, {"cost_gain", cost}});
}

std::vector<core::Alternative> lost_for(const JobRow& job, const Curve& curve, int size, const Terms& terms) {
  std::set<int> sizes{curve.front().size};
  const int held = size_of(job.placement);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].size == held) sizes.insert(held);
    if (curve[i].size < size && (i + 1 == curve.size() || curve[i + 1].size >= size)) sizes.insert(curve[i].size);
    if (curve[i].size > size && (i == 0 || curve[i - 1].size <= size)) sizes.insert(curve[i].size);
  }
  sizes.erase(size);
  std::vector<core::Alternative> lost;
  for (const int other : sizes) {
    const double worth = worth_of(curve, other);
    const double cost = terms.price * other;
    lost.push_back({.size = other,
                    .score = worth - cost,
                    .reason = {ReasonCode::kUtilitySettled,
                               {{"size", double(size)},
                                {"next", double(other)},
                                {"utility_gain", worth - worth_of(curve, size)},
                                {"cost_gain", cost - terms.price * size}}}});
  }
  std::sort(lost.begin(), lost.end(), [](const core::Alternative& a, const core::Alternative& b) {
    return std::pair(-a.score, a.size) < std::pair(-b.score, b.size);
  });
  return lost;
}

}  // namespace tidepool::policies::tidal
