#include "workers/runtime/comm.hpp"

namespace tidepool::runtime {

Status Comm::allreduce_parts(std::span<const FloatBuffer> parts) {
  for (const FloatBuffer& part : parts) {
    if (part.memory == Memory::kDevice) {
      return invalid_argument(
          "these workers talk through ordinary memory and cannot sum memory of a GPU: copy it to the host first, or "
          "give "
          "every worker a GPU and NCCL");
    }
    TP_TRY(allreduce(part.values));
  }
  return ok_status();
}

}  // namespace tidepool::runtime
