// A Comm over NCCL, on this process's GPU. Numbers in ordinary memory go through pinned staging; numbers on the GPU are
// summed in place.
//
// Nothing here blocks: the communicator is created with blocking = 0, every operation is awaited by polling, and each
// poll checks for abort() and for a deadline. So a dead or hanging peer costs only the time until the daemon reports
// it. After a fault a thread of its own ends the communicator with ncclCommAbort, never with ncclCommDestroy: mixing
// the two hangs the other ranks. A communicator is never repaired; the next generation creates a new one.
//
// Errors: kUnavailable if a member no longer exists or hangs; kIo if NCCL or CUDA reports a fault here. The other ranks
// may not see that fault: then they wait for this worker until it has ended.
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
  Millis connect_timeout{30'000};      // from connect() until all ranks have connected
  Millis collective_timeout{600'000};  // for a peer that hangs without dying; the daemon reports deaths
  std::size_t staging_bytes = 8U << 20U;
};

class NcclComm : public Comm {
 public:
  // Allocates the GPU memory it needs. Rank 0 also creates the id that the other ranks use to connect.
  [[nodiscard]] static Result<std::shared_ptr<NcclComm>> open(const NcclOptions& options);

  // What the peers need: rank 0's id of nccl::kUniqueIdBytes bytes, nothing from the others.
  [[nodiscard]] virtual std::string address() const = 0;

  // Returns when every rank has connected; `id` is rank 0's. abort() from another thread ends the wait.
  [[nodiscard]] virtual Status connect(const std::string& id) = 0;
};

}  // namespace tidepool::runtime
