// Which library carries the sums between workers: a choice of the user, TIDEPOOL_BACKEND.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tidepool::runtime {

enum class Backend {
  kAuto,  // NCCL if the worker was given GPUs and the libraries load, and Gloo beside workers without
  kGloo,
  kNccl,  // nothing else: a worker without it is an error
};

// "auto", "gloo" or "nccl"; empty is auto.
[[nodiscard]] Result<Backend> parse_backend(const std::string& text);

}  // namespace tidepool::runtime
