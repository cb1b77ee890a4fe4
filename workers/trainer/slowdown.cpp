#include "workers/trainer/slowdown.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

namespace tidepool::trainer {

Slowdown::Slowdown(SlowdownSettings settings, std::string worker)
    : settings_(std::move(settings)), worker_(std::move(worker)) {}

double Slowdown::factor(std::int64_t step) {
  if (!settings_.file.empty() && --until_look_ < 0) look_into_file();
  const bool named = settings_.worker == worker_ && step >= settings_.from_step;
  return std::max(named ? settings_.factor : 1.0, told_);
}

void Slowdown::look_into_file() {
  until_look_ = kLookEvery;
  told_ = 1;
  std::ifstream in(settings_.file);
  std::string worker;
  double factor = 1;
  while (in >> worker >> factor) {
    if (worker == worker_ && factor > 1) told_ = std::min(factor, 100.0);
  }
}

}  // namespace tidepool::trainer
