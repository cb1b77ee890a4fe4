#include "core/tenants/water_level.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tidepool::core {
namespace {

constexpr double kAlike = 1e-6;  // slots: rounding error of doubles, which is ignored

// Where the slope of the sum of all shares changes as the level rises: a basin begins to fill, or is full.
struct Bend {
  double level = 0;
  double slope = 0;  // added to the slope of the sum
};

struct Open {
  const std::vector<Basin>& basins;
  std::vector<std::size_t> members;  // participants; none has weight 0 unless all do
  [[nodiscard]] double weight(std::size_t i) const {
    return static_cast<double>(std::max<std::int64_t>(1, basins[i].weight));
  }
};

// The level at which the basins hold the amount. Requires: their caps add up to more.
double level_of(const Open& open, double amount) {
  std::vector<Bend> bends;
  bends.reserve(2 * open.members.size());
  for (const std::size_t i : open.members) {
    const double weight = open.weight(i);
    bends.push_back({open.basins[i].offset / weight, weight});
    bends.push_back({(open.basins[i].offset + open.basins[i].cap) / weight, -weight});
  }
  std::sort(bends.begin(), bends.end(), [](const Bend& a, const Bend& b) { return a.level < b.level; });
  double level = 0;
  double slope = 0;
  double left = amount;
  for (const Bend& bend : bends) {
    const double taken = slope * (bend.level - level);
    if (taken >= left && slope > 0) return level + left / slope;
    left -= taken;
    level = bend.level;
    slope += bend.slope;
  }
  return level;
}

// What each basin holds at that level; their caps if those add up to less.
void fill_exactly(const Open& open, double amount, std::vector<double>& shares) {
  const auto caps = std::accumulate(open.members.begin(), open.members.end(), std::int64_t{0},
                                    [&](std::int64_t sum, std::size_t i) { return sum + open.basins[i].cap; });
  const bool all_full = static_cast<double>(caps) <= amount;
  const double level = all_full ? 0 : level_of(open, amount);
  for (const std::size_t i : open.members) {
    const auto cap = static_cast<double>(open.basins[i].cap);
    shares[i] = all_full ? cap : std::clamp(open.weight(i) * level - open.basins[i].offset, 0.0, cap);
  }
}

void share_out(const Open& open, int amount, std::vector<int>& shares) {
  std::vector<double> exact(shares.size(), 0);
  fill_exactly(open, amount, exact);
  std::vector<std::pair<std::int64_t, std::size_t>> rest;  // fractions removed by rounding, the largest first
  int left = amount;
  for (const std::size_t i : open.members) {
    const Basin& basin = open.basins[i];
    const int whole = std::min(basin.cap, static_cast<int>(std::floor(exact[i] + kAlike)));
    shares[i] = whole;
    left -= whole;
    const auto remainder = static_cast<std::int64_t>(std::llround(std::max(0.0, exact[i] - whole) / kAlike));
    if (whole < basin.cap) rest.emplace_back(-remainder, i);
  }
  std::sort(rest.begin(), rest.end());
  for (const auto& [remainder, i] : rest) {
    if (left <= 0) break;
    ++shares[i];
    --left;
  }
}

// Basins with a weight first, then the others with the rest.
template <class Amount>
std::vector<Amount> fill_by(const std::vector<Basin>& basins, Amount amount,
                            void (*one)(const Open&, Amount, std::vector<Amount>&)) {
  std::vector<Amount> shares(basins.size(), 0);
  for (const bool weighted : {true, false}) {
    Open open{basins, {}};
    for (std::size_t i = 0; i < basins.size(); ++i) {
      if (basins[i].cap > 0 && (basins[i].weight > 0) == weighted) open.members.push_back(i);
    }
    const Amount left = amount - std::accumulate(shares.begin(), shares.end(), Amount{});
    if (left > 0 && !open.members.empty()) one(open, left, shares);
  }
  return shares;
}

}  // namespace

std::vector<int> fill(const std::vector<Basin>& basins, int amount) {
  return fill_by<int>(basins, amount, share_out);
}

std::vector<double> fill_exactly(const std::vector<Basin>& basins, double amount) {
  return fill_by<double>(basins, amount, fill_exactly);
}

}  // namespace tidepool::core
