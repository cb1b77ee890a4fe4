// Opens the communicator of one generation on a transport that all its members have: NCCL between GPUs, else Gloo.
//
// The transports of this worker are determined once, when the session opens. Each generation chooses again between
// them, from the addresses of all ranks, so a job can continue over Gloo when a worker without a GPU joins.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workers/runtime/backend.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/comm/comm.hpp"
#include "workers/runtime/comm/gloo_comm.hpp"
#include "workers/runtime/nccl/nccl_comm.hpp"

namespace tidepool::runtime {

struct Transports {
  bool gloo = true;
  std::shared_ptr<const NcclLibrary> nccl;  // both are set, or neither is
  std::shared_ptr<const CudaLibrary> cuda;
  std::string why_no_nccl;  // the reason for users, if NCCL was looked for and not found
};

// Loads the libraries; the only place that reads CUDA_VISIBLE_DEVICES. Call it before other threads run.
[[nodiscard]] Result<Transports> find_transports(Backend wanted);

struct CommOpeningOptions {
  int rank = 0;
  int size = 2;
  std::string host = "127.0.0.1";
  Millis connect_timeout{30'000};
  Millis collective_timeout{600'000};
};

class CommOpening {
 public:
  [[nodiscard]] static Result<std::shared_ptr<CommOpening>> open(const Transports& transports,
                                                                 const CommOpeningOptions& options);

  // What the peers need to connect; opaque bytes.
  [[nodiscard]] std::string address() const;

  // `addresses` are in rank order. abort() from another thread ends the wait. The transport that is not chosen is
  // closed.
  [[nodiscard]] Result<std::shared_ptr<Comm>> connect(const std::vector<std::string>& addresses);

  void abort() noexcept;

 private:
  CommOpening(std::shared_ptr<GlooComm> gloo, std::shared_ptr<NcclComm> nccl, int nccl_version)
      : gloo_(std::move(gloo)), nccl_(std::move(nccl)), nccl_version_(nccl_version) {}

  const std::shared_ptr<GlooComm> gloo_;  // may be null
  const std::shared_ptr<NcclComm> nccl_;  // may be null
  const int nccl_version_;
};

}  // namespace tidepool::runtime
