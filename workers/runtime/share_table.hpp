// How the samples of a step are split over the ranks of a generation: in proportion to whole weights, so that a slow
// rank can get fewer samples. Every rank computes every rank's share from the table alone.
// Safe rule: all ranks split a step by the same table; they change to another table only when the control word agrees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/check.hpp"

namespace tidepool::runtime {

class SampleWeights {
 public:
  // Even shares for `size` ranks; each generation begins with this table.
  explicit SampleWeights(int size) : weights_(static_cast<std::size_t>(size), 1), all_(weights_.size()) {
    TP_CHECK(size >= 1, "shares are of at least one rank");
  }
  // Table `number` of a generation. Requires: a weight above 0 for each rank.
  SampleWeights(std::int64_t number, std::vector<std::uint64_t> weights)
      : number_(number),
        weights_(std::move(weights)),
        all_(std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0})) {
    const bool sound = !weights_.empty() && std::ranges::all_of(weights_, [](auto weight) { return weight > 0; });
    TP_CHECK(sound, "every rank has a weight");
  }

  [[nodiscard]] std::int64_t number() const { return number_; }  // 0: even shares
  [[nodiscard]] int size() const { return static_cast<int>(weights_.size()); }

  // Where the share of `rank` begins in a range of `samples`, relative to the range's start; for rank = size() its end.
  // Requires: samples < 2^34, so that nothing overflows with weights up to 2^20 for 1,024 ranks.
  [[nodiscard]] std::uint64_t begin_of(int rank, std::uint64_t samples) const {
    const auto last = weights_.begin() + static_cast<std::ptrdiff_t>(rank);
    return samples * std::accumulate(weights_.begin(), last, std::uint64_t{0}) / all_;
  }

 private:
  std::int64_t number_ = 0;
  std::vector<std::uint64_t> weights_;
  std::uint64_t all_ = 0;
};

}  // namespace tidepool::runtime
