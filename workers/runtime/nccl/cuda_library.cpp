#include "workers/runtime/nccl/cuda_library.hpp"

#include "workers/runtime/nccl/dynamic_library.hpp"

namespace tidepool::runtime {
namespace {

constexpr const char* kVariable = "TIDEPOOL_CUDART_LIBRARY";

void resolve(DynamicLibrary& library, CudaLibrary& cuda) {
  library.require("cudaRuntimeGetVersion", cuda.runtime_version);
  library.require("cudaGetDeviceCount", cuda.device_count);
  library.require("cudaSetDevice", cuda.set_device);
  library.require("cudaGetErrorString", cuda.error_text);
  library.require("cudaMalloc", cuda.allocate);
  library.require("cudaFree", cuda.release);
  library.require("cudaMallocHost", cuda.allocate_host);
  library.require("cudaFreeHost", cuda.release_host);
  library.require("cudaMemcpyAsync", cuda.copy);
  library.require("cudaStreamCreateWithFlags", cuda.stream_create);
  library.require("cudaStreamDestroy", cuda.stream_destroy);
  library.require("cudaStreamSynchronize", cuda.stream_synchronize);
  library.require("cudaEventCreateWithFlags", cuda.event_create);
  library.require("cudaEventDestroy", cuda.event_destroy);
  library.require("cudaEventRecord", cuda.event_record);
  library.require("cudaEventQuery", cuda.event_query);
  library.require("cudaEventSynchronize", cuda.event_synchronize);
  library.require("cudaStreamWaitEvent", cuda.stream_wait_event);
  library.require("cudaPointerGetAttributes", cuda.pointer_attributes);
}

}  // namespace

Result<std::shared_ptr<const CudaLibrary>> CudaLibrary::load() {
  auto library = DynamicLibrary::open(
      {.what = "the CUDA runtime",
       .variable = kVariable,
       .names = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "/usr/local/cuda/lib64/libcudart.so"},
       .remedy = std::string("install the CUDA runtime, or set ") + kVariable + " to its libcudart.so"});
  if (!library.ok()) return library.error();
  auto cuda = std::make_shared<CudaLibrary>();
  cuda->file = library->file();
  resolve(*library, *cuda);
  if (const std::string missing = library->missing(); !missing.empty()) {
    return not_found(cuda->file + " lacks " + missing + ": it is no CUDA runtime of version 11 or later; set " +
                     kVariable + " to one that is");
  }
  TP_TRY(cuda->check(cuda->runtime_version(&cuda->version), "asking the CUDA runtime for its version"));
  TP_TRY(cuda->check(cuda->device_count(&cuda->devices), "looking for GPUs"));
  if (cuda->devices < 1) return not_found("CUDA sees no GPU; look at CUDA_VISIBLE_DEVICES");
  return std::shared_ptr<const CudaLibrary>(std::move(cuda));
}

Status CudaLibrary::check(int code, const char* what) const {
  if (code == cuda::kSuccess) return ok_status();
  return io_error(std::string(what) + ": CUDA says \"" + error_text(code) + "\" (" + std::to_string(code) + ")");
}

}  // namespace tidepool::runtime
