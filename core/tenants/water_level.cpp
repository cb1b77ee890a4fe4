#include "core/tenants/water_level.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace tidepool::core {
namespace {

constexpr double kAlike = 1e-6;  // slots: what doubles add to or take from a share says nothing

// Where the sum of all shares bends as the level rises: a basin begins to fill, or is full.
struct Bend {
  double level = 0;
  double slope = 0;  // added to the sum's
};

struct Open {
  const std::vector<Basin>& basins;
  std::vector<std::size_t> members;  // that take part; none has weight 0 unless all do
  [[nodiscard]] double weight(std::size_t i) const {
    return static_cast<double>(std::max<std::int64_t>(1, basins[i].weight));
  }
};

// The level at which they hold the amount. Requires: their caps add up to more.
double level_of(const Open& open, int amount) {
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

void share_out(const Open& open, int amount, std::vector<int>& shares) {
  const auto caps = std::accumulate(open.members.begin(), open.members.end(), std::int64_t{0},
                                    [&](std::int64_t sum, std::size_t i) { return sum + open.basins[i].cap; });
  if (caps <= amount) {
    for (const std::size_t i : open.members) shares[i] = open.basins[i].cap;
    return;
  }
  const double level = level_of(open, amount);
  std::vector<std::tuple<std::int64_t, int, std::size_t>> rest;  // what rounding kept back, the largest first
  int left = amount;
  for (const std::size_t i : open.members) {
    const Basin& basin = open.basins[i];
    const double exact = std::clamp(open.weight(i) * level - basin.offset, 0.0, static_cast<double>(basin.cap));
    const int whole = std::min(basin.cap, static_cast<int>(std::floor(exact + kAlike)));
    shares[i] = whole;
    left -= whole;
    const auto remainder = static_cast<std::int64_t>(std::llround(std::max(0.0, exact - whole) / kAlike));
    if (whole < basin.cap) rest.emplace_back(-remainder, whole - basin.before, i);
  }
  std::sort(rest.begin(), rest.end());
  for (const auto& [remainder, gained, i] : rest) {
    if (left <= 0) break;
    ++shares[i];
    --left;
  }
}

}  // namespace

std::vector<int> fill(const std::vector<Basin>& basins, int amount) {
  std::vector<int> shares(basins.size(), 0);
  for (const bool weighted : {true, false}) {
    Open open{basins, {}};
    for (std::size_t i = 0; i < basins.size(); ++i) {
      if (basins[i].cap > 0 && (basins[i].weight > 0) == weighted) open.members.push_back(i);
    }
    const int left = amount - std::accumulate(shares.begin(), shares.end(), 0);
    if (left > 0 && !open.members.empty()) share_out(open, left, shares);
  }
  return shares;
}

}  // namespace tidepool::core
