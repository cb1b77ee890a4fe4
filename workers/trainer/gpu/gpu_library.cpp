#include "workers/trainer/gpu/gpu_library.hpp"

#include <filesystem>

#include "workers/runtime/nccl/dynamic_library.hpp"

namespace tidepool::trainer {
namespace {

constexpr const char* kVariable = "TIDEPOOL_GPU_LIBRARY";
constexpr const char* kFile = "libtidepool-gpu.so";

// Next to the installed program, else where the loader looks.
std::vector<std::string> usual_places() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return {(program.parent_path().parent_path() / "lib" / kFile).string(), kFile};
}

}  // namespace

Result<const tidepool_gpu_api*> load_gpu_library() {
  auto library = runtime::DynamicLibrary::open(
      {.what = "the GPU library",
       .variable = kVariable,
       .names = usual_places(),
       .remedy = std::string("build it on a machine with CUDA, or set ") + kVariable + " to the file"});
  if (!library.ok()) return library.error();
  const tidepool_gpu_api* (*table)() = nullptr;
  library->require("tidepool_gpu", table);
  if (table == nullptr) return not_found(library->file() + " is no library of Tidepool");
  const tidepool_gpu_api* gpu = table();
  if (gpu->abi != TIDEPOOL_GPU_ABI) {
    return not_found(library->file() + " is of interface version " + std::to_string(gpu->abi) +
                     ", this program wants " + std::to_string(TIDEPOOL_GPU_ABI) + ": build both from the same source");
  }
  int devices = 0;
  if (gpu->devices(&devices) != 0) return gpu_error(*gpu, "no GPU can be used");
  if (devices < 1) return not_found("CUDA sees no GPU; look at CUDA_VISIBLE_DEVICES");
  return gpu;
}

Error gpu_error(const tidepool_gpu_api& gpu, const std::string& what) {
  return io_error(what + ": " + gpu.last_error());
}

}  // namespace tidepool::trainer
