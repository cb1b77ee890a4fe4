// Makes one worker slow on purpose, to show how the scheduler treats a straggler. The slow worker computes its gradient
// several times and keeps one result. The slowdown is bound to a worker's id, so the worker that replaces it is
// healthy.
#pragma once

#include <cstdint>
#include <string>

#include "workers/trainer/settings.hpp"

namespace tidepool::trainer {

class Slowdown {
 public:
  Slowdown(SlowdownSettings settings, std::string worker);

  // How many times as long this step's computation must take, >= 1. A changed file is noticed within kLookEvery
  // steps.
  [[nodiscard]] double factor(std::int64_t step);

 private:
  static constexpr int kLookEvery = 5;

  void look_into_file();

  SlowdownSettings settings_;
  std::string worker_;
  int until_look_ = 0;
  double told_ = 1;  // factor read from the file
};

}  // namespace tidepool::trainer
