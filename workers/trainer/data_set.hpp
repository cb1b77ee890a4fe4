// The data behind a training run, whatever file it lies in: numbered samples that are made ready a
// batch at a time. Sample numbers are the same on every worker, or no sample would be used exactly once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace tidepool::trainer {

// A part of a batch, or all of it.
struct BatchView {
  std::span<const float> numbers;  // inputs x samples, one column a sample; empty if the inputs are tokens
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

// The memory of a batch; used again and again, so that a step allocates nothing.
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

  // How many samples an epoch has; sample numbers are below it.
  [[nodiscard]] virtual std::uint64_t samples() const = 0;
  // Numbers or tokens that a sample shows to the model.
  [[nodiscard]] virtual int inputs() const = 0;
  // Different answers; for text also the number of different tokens.
  [[nodiscard]] virtual int classes() const = 0;

  // Overwrites `batch` with these samples, in this order. From any thread. An error means that the data is damaged.
  [[nodiscard]] virtual Status fill(std::span<const std::uint64_t> samples, Batch& batch) const = 0;
};

}  // namespace tidepool::trainer
