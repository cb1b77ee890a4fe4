#include "workers/agent/nvml_gpu_probe.hpp"

#include <dlfcn.h>

#include <array>
#include <memory>
#include <utility>

namespace tidepool::agent {
namespace {

// NVML API reference, "Device Queries" and "Multi Instance GPU Management". Declared by hand: the header comes only
// with the CUDA toolkit, the library with every driver.
using Device = struct OpaqueDevice*;
constexpr int kSuccess = 0;
constexpr int kTooSmall = 7;  // NVML_ERROR_INSUFFICIENT_SIZE: there are more than fit
constexpr unsigned kMigEnabled = 1;
constexpr unsigned kTextBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE, also enough for a name

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  // Optional: drivers before 450 do not support MIG.
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*mig_count)(Device, unsigned*) = nullptr;
  int (*mig_handle)(Device, unsigned, Device*) = nullptr;
  // Optional.
  int (*minor)(Device, unsigned*) = nullptr;
  int (*by_uuid)(const char*, Device*) = nullptr;
  int (*processes)(Device, unsigned*, void*) = nullptr;
};

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

// Fills `function`; false if the library has no such symbol.
template <class Function>
bool find(const Library& library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library.get(), symbol));
  return function != nullptr;
}

Result<Nvml> load_symbols(const Library& library, const std::string& file) {
  Nvml nvml;
  const char* missing = nullptr;
  const auto require = [&](const char* symbol, auto& function) {
    if (!find(library, symbol, function) && missing == nullptr) missing = symbol;
  };
  require("nvmlInit_v2", nvml.init);
  require("nvmlShutdown", nvml.shutdown);
  require("nvmlErrorString", nvml.error_text);
  require("nvmlDeviceGetCount_v2", nvml.count);
  require("nvmlDeviceGetHandleByIndex_v2", nvml.handle);
  require("nvmlDeviceGetName", nvml.name);
  require("nvmlDeviceGetUUID", nvml.uuid);
  if (missing != nullptr)
    return not_found(file + " lacks " + missing + "; the driver is too old or the file is another");
  const bool mig = find(library, "nvmlDeviceGetMigMode", nvml.mig_mode) &&
                   find(library, "nvmlDeviceGetMaxMigDeviceCount", nvml.mig_count) &&
                   find(library, "nvmlDeviceGetMigDeviceHandleByIndex", nvml.mig_handle);
  if (!mig) nvml.mig_mode = nullptr;
  static_cast<void>(find(library, "nvmlDeviceGetMinorNumber", nvml.minor));
  const bool told = find(library, "nvmlDeviceGetHandleByUUID", nvml.by_uuid) &&
                    (find(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.processes) ||
                     find(library, "nvmlDeviceGetComputeRunningProcesses_v2", nvml.processes));
  if (!told) nvml.processes = nullptr;
  return nvml;
}

using ReadText = int (*)(Device, char*, unsigned);

std::string text_of(Device device, ReadText read) {
  std::array<char, kTextBytes> text{};
  return read(device, text.data(), kTextBytes) == kSuccess ? std::string(text.data()) : std::string();
}

void add(const Nvml& nvml, Device device, std::vector<Gpu>& gpus) {
  Gpu gpu{.uuid = text_of(device, nvml.uuid), .name = text_of(device, nvml.name)};
  if (!gpu.uuid.empty()) gpus.push_back(std::move(gpu));
}

// A GPU that is divided into MIG instances cannot be used whole; then each instance is a slot.
void add_whole_or_instances(const Nvml& nvml, Device device, std::vector<Gpu>& gpus) {
  unsigned current = 0;
  unsigned pending = 0;
  const bool cut =
      nvml.mig_mode != nullptr && nvml.mig_mode(device, &current, &pending) == kSuccess && current == kMigEnabled;
  if (!cut) {
    const std::size_t before = gpus.size();
    add(nvml, device, gpus);
    unsigned minor = 0;
    const bool told = gpus.size() > before && nvml.minor != nullptr && nvml.minor(device, &minor) == kSuccess;
    if (told) gpus.back().minor = static_cast<int>(minor);
    return;
  }
  unsigned count = 0;
  if (nvml.mig_count(device, &count) != kSuccess) return;
  for (unsigned i = 0; i < count; ++i) {
    Device instance = nullptr;
    if (nvml.mig_handle(device, i, &instance) == kSuccess) add(nvml, instance, gpus);
  }
}

Result<std::vector<Gpu>> list_devices(const Nvml& nvml) {
  unsigned count = 0;
  if (const int code = nvml.count(&count); code != kSuccess) {
    return Error{ErrorCode::kUnavailable, std::string("NVML cannot count the GPUs: ") + nvml.error_text(code)};
  }
  std::vector<Gpu> gpus;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    // A GPU that has fallen off the bus still counts.
    if (nvml.handle(i, &device) == kSuccess) add_whole_or_instances(nvml, device, gpus);
  }
  if (gpus.empty()) return not_found("the NVIDIA driver is there but shows no usable GPU");
  return gpus;
}

}  // namespace

NvmlGpuProbe::NvmlGpuProbe(std::string library) : library_(std::move(library)) {}

Result<std::vector<Gpu>> NvmlGpuProbe::list() {
  const Library library(::dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return not_found(std::string("no NVIDIA driver on this node: ") + ::dlerror());
  const auto nvml = load_symbols(library, library_);
  if (!nvml) return nvml.error();
  if (const int code = nvml->init(); code != kSuccess) {
    return Error{ErrorCode::kUnavailable, std::string("the NVIDIA driver does not answer: ") + nvml->error_text(code)};
  }
  auto gpus = list_devices(*nvml);
  nvml->shutdown();
  return gpus;
}

// Called with an empty buffer: the driver then returns how many there are.
std::optional<int> NvmlGpuProbe::processes_on(const std::string& uuid) {
  const Library library(::dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return std::nullopt;
  const auto nvml = load_symbols(library, library_);
  if (!nvml || nvml->processes == nullptr || nvml->init() != kSuccess) return std::nullopt;
  Device device = nullptr;
  unsigned count = 0;
  std::optional<int> found;
  if (nvml->by_uuid(uuid.c_str(), &device) == kSuccess) {
    const int code = nvml->processes(device, &count, nullptr);
    if (code == kSuccess || code == kTooSmall) found = static_cast<int>(count);
  }
  nvml->shutdown();
  return found;
}

}  // namespace tidepool::agent
