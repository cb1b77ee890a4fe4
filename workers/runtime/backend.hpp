// The library that sums between workers. The user chooses it with TIDEPOOL_BACKEND.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tidepool::runtime {

enum class Backend {
  kAuto,  // NCCL if the worker has GPUs and the libraries load; Gloo in a job that has workers without NCCL
  kGloo,
  kNccl,  // NCCL only: a worker without it is an error
};

// "auto", "gloo" or "nccl"; empty is auto.
[[nodiscard]] Result<Backend> parse_backend(const std::string& text);

}  // namespace tidepool::runtime
