// NCCL as a table of functions, loaded at run time. All required symbols are resolved here; a library that lacks one,
// or is older than 2.18, is refused with an error that names the file, its version and what is missing.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "workers/runtime/nccl/cuda_library.hpp"
#include "workers/runtime/nccl/nccl_abi.hpp"

namespace tidepool::runtime {

struct NcclLibrary {
  // Loads the file in TIDEPOOL_NCCL_LIBRARY if that is set, else the machine's own. Call it before other threads read
  // the environment: it sets variables that NCCL reads at its first use, unless they are set already.
  [[nodiscard]] static Result<std::shared_ptr<const NcclLibrary>> load();

  std::string file;
  int version = 0;  // 22809 = 2.28.9
  [[nodiscard]] std::string version_text() const;

  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(nccl::UniqueId*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  const char* (*last_error)(nccl::Handle) = nullptr;
  int (*init_rank)(nccl::Handle*, int size, nccl::UniqueId, int rank, nccl::Config*) = nullptr;
  int (*async_error)(nccl::Handle, int*) = nullptr;
  int (*finalize)(nccl::Handle) = nullptr;
  int (*destroy)(nccl::Handle) = nullptr;
  int (*abort)(nccl::Handle) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*allreduce)(const void*, void*, std::size_t, int type, int operation, nccl::Handle, cuda::Stream) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int type, int root, nccl::Handle, cuda::Stream) = nullptr;
  int (*allgather)(const void*, void*, std::size_t, int type, nccl::Handle, cuda::Stream) = nullptr;
};

}  // namespace tidepool::runtime
