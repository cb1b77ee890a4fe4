// The data of a training run, whatever its file format: numbered samples that are prepared batch by batch. Sample
// numbers must be the same on every worker, else samples would not be used exactly once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace tidepool::trainer {

// A batch or a part of one.
struct BatchView {
  std::span<const float> numbers;  // inputs x samples, one column per sample; empty if the inputs are tokens
  std::span<const int> tokens;     // the same for tokens; empty if the inputs are numbers
  std::span<const int> classes;    // by sample

  [[nodiscard]] std::size_t samples() const { return classes.size(); }
  [[nodiscard]] BatchView part(std::size_t first, std::size_t count) const {
    const auto columns = [&](auto values) {
      const std::size_t width = classes.empty() ? 0 : values.size() / classes.size();
      return values.subspan(first * width, count * width);
    };
    return {.numbers = columns(numbers), .tokens = columns(tokens), .classes = classes.subspan(first, count)};
  }
};

// The memory of a batch; reused, so that a step allocates nothing.
struct Batch {
  std::vector<float> numbers;
  std::vector<int> tokens;
  std::vector<int> classes;

  [[nodiscard]] BatchView view() const { return {.numbers = numbers, .tokens = tokens, .classes = classes}; }
};

class DataSet {
 public:
  DataSet() = default;
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;
  virtual ~DataSet() = default;

  // Number of samples in an epoch; sample numbers are below it.
  [[nodiscard]] virtual std::uint64_t samples() const = 0;
  // Number of inputs (numbers or tokens) of one sample.
  [[nodiscard]] virtual int inputs() const = 0;
  // Number of different answers; for text also the number of different tokens.
  [[nodiscard]] virtual int classes() const = 0;

  // Overwrites `batch` with these samples, in this order. From any thread. An error means that the data is damaged.
  [[nodiscard]] virtual Status fill(std::span<const std::uint64_t> samples, Batch& batch) const = 0;
};

}  // namespace tidepool::trainer
