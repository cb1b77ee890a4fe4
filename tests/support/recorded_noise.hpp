// Compute times of real runs (tests/data), played back in random order: blocks of consecutive steps are drawn with a
// seed, so that what lasts for some steps on a real machine lasts as long here.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/rng.hpp"

namespace tidepool::test {

inline constexpr int kBlockSteps = 100;

// [step][rank] in microseconds. Throws std::runtime_error if the file is not there or broken.
using ComputeTimes = std::vector<std::vector<std::int64_t>>;
inline ComputeTimes read_compute_times(const std::string& name) {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  const std::string path = std::string(source == nullptr ? "." : source) + "/tests/data/" + name + ".csv";
  std::ifstream file(path);
  ComputeTimes steps;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    auto& ranks = steps.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) ranks.push_back(std::stoll(cell));
    if (ranks.size() != steps.front().size()) throw std::runtime_error(path + " has lines of different length");
  }
  if (steps.size() < kBlockSteps) throw std::runtime_error(path + " is missing or too short; TIDEPOOL_SOURCE_DIR?");
  return steps;
}

class RecordedNoise {
 public:
  RecordedNoise(const ComputeTimes& recorded, std::uint64_t seed) : recorded_(recorded), rng_(seed) {}

  [[nodiscard]] std::size_t ranks() const { return recorded_.front().size(); }
  std::vector<std::int64_t> next() {
    if (left_ == 0) {
      left_ = kBlockSteps;
      at_ = rng_.below(recorded_.size());
    }
    --left_;
    return recorded_[at_++ % recorded_.size()];
  }

 private:
  const ComputeTimes& recorded_;
  Rng rng_;
  int left_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace tidepool::test
