#include "workers/runtime/nccl/nccl_library.hpp"

#include <cstdlib>

#include "workers/runtime/nccl/dynamic_library.hpp"

namespace tidepool::runtime {
namespace {

constexpr const char* kPathVariable = "TIDEPOOL_NCCL_LIBRARY";
constexpr int kOldest = 21'800;

void resolve(DynamicLibrary& library, NcclLibrary& nccl) {
  library.require("ncclGetVersion", nccl.get_version);
  library.require("ncclGetUniqueId", nccl.get_unique_id);
  library.require("ncclGetErrorString", nccl.error_text);
  library.require("ncclGetLastError", nccl.last_error);
  library.require("ncclCommInitRankConfig", nccl.init_rank);
  library.require("ncclCommGetAsyncError", nccl.async_error);
  library.require("ncclCommFinalize", nccl.finalize);
  library.require("ncclCommDestroy", nccl.destroy);
  library.require("ncclCommAbort", nccl.abort);
  library.require("ncclGroupStart", nccl.group_start);
  library.require("ncclGroupEnd", nccl.group_end);
  library.require("ncclAllReduce", nccl.allreduce);
  library.require("ncclBroadcast", nccl.broadcast);
  library.require("ncclAllGather", nccl.allgather);
}

// Connections are made while a communicator is built, not during its first sum, and kernels of two communicators are
// launched in one order, so that the next one can be built while the present one works (NCCL user guide, environment).
void set_defaults() {
  ::setenv("NCCL_RUNTIME_CONNECT", "0", 0);
  ::setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", 0);
}

// Versions up to 2.8 count in thousands, later ones in ten thousands (NCCL_VERSION in nccl.h).
std::string text_of_version(int code) {
  const int base = code < 10'000 ? 1'000 : 10'000;
  return std::to_string(code / base) + "." + std::to_string(code % base / 100) + "." + std::to_string(code % 100);
}

}  // namespace

Result<std::shared_ptr<const NcclLibrary>> NcclLibrary::load() {
  set_defaults();
  const std::string remedy =
      std::string("install NCCL 2.18 or later, or set ") + kPathVariable + " to its libnccl.so.2";
  auto library = DynamicLibrary::open({.what = "NCCL",
                                       .variable = kPathVariable,
                                       .names = {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"},
                                       .remedy = remedy});
  if (!library.ok()) return library.error();
  auto nccl = std::make_shared<NcclLibrary>();
  nccl->file = library->file();
  resolve(*library, *nccl);
  const bool answers = nccl->get_version != nullptr && nccl->get_version(&nccl->version) == nccl::kSuccess;
  const std::string name = nccl->file + (answers ? " (NCCL " + nccl->version_text() + ")" : " (no version)");
  if (answers && nccl->version < kOldest) return not_found(name + " is too old; " + remedy);
  if (const std::string missing = library->missing(); !missing.empty() || !answers) {
    return not_found(name + " lacks " + (missing.empty() ? "a version" : missing) + "; " + remedy);
  }
  return std::shared_ptr<const NcclLibrary>(std::move(nccl));
}

std::string NcclLibrary::version_text() const {
  return text_of_version(version);
}

}  // namespace tidepool::runtime
