// A Comm over NCCL, on this process's GPU. Numbers in ordinary memory go through pinned staging; numbers that already
// lie on the GPU are summed in place.
//
// Nothing here blocks: the communicator is made with blocking = 0, every operation is awaited by polling, and each poll
// looks at abort() and at a deadline. So a dead or hanging peer costs as long as the daemon needs to say so. After a
// fault the communicator is ended with ncclCommAbort by a thread of its own, never with ncclCommDestroy: mixing the two
// hangs the others. It is never repaired; the next generation makes a new one.
//
// Errors: kUnavailable when a member is gone or hangs; kIo when NCCL or CUDA reports a fault here, which the others may
// not see: then they wait for this worker until it is gone.
#pragma once

#include <memory>
#include <string>

#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/comm/comm.hpp"
#include "workers/runtime/nccl/cuda_library.hpp"
#include "workers/runtime/nccl/nccl_library.hpp"

namespace tidepool::runtime {

struct NcclOptions {
  std::shared_ptr<const NcclLibrary> nccl;
  std::shared_ptr<const CudaLibrary> cuda;
  int rank = 0;
  int size = 2;
  Millis connect_timeout{30'000};      // from connect() until all ranks are in
  Millis collective_timeout{600'000};  // a peer that hangs without dying; deaths are pushed by the daemon
  std::size_t staging_bytes = 8U << 20U;
};

class NcclComm : public Comm {
 public:
  // Takes the GPU memory it needs. Rank 0 also makes the id under which the others find it.
  [[nodiscard]] static Result<std::shared_ptr<NcclComm>> open(const NcclOptions& options);

  // What the peers must know: rank 0's id of nccl::kUniqueIdBytes bytes, nothing from the others.
  [[nodiscard]] virtual std::string address() const = 0;

  // Returns when every rank has come; `id` is rank 0's. abort() from another thread ends the wait.
  [[nodiscard]] virtual Status connect(const std::string& id) = 0;
};

}  // namespace tidepool::runtime
