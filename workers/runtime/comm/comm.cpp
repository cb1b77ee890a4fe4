#include "workers/runtime/comm/comm.hpp"

namespace tidepool::runtime {
namespace {

Error no_device_memory() {
  return invalid_argument(
      "these workers talk through ordinary memory and cannot use memory of a GPU: copy it to the host first, or give "
      "every worker a GPU and NCCL");
}

}  // namespace

Status Comm::broadcast_device(std::span<const std::byte>) {
  return no_device_memory();
}

Status Comm::allreduce_parts(std::span<const FloatBuffer> parts) {
  for (const FloatBuffer& part : parts) {
    if (part.memory == Memory::kDevice) {
      return no_device_memory();
    }
    TP_TRY(allreduce(part.values));
  }
  return ok_status();
}

}  // namespace tidepool::runtime
