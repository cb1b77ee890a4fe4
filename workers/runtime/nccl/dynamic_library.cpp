#include "workers/runtime/nccl/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

#include "base/word_list.hpp"

namespace tidepool::runtime {

Result<DynamicLibrary> DynamicLibrary::open(const Wanted& wanted) {
  const char* chosen = std::getenv(wanted.variable);
  const bool by_name = chosen != nullptr && *chosen != '\0';
  std::string reasons;
  for (const std::string& name : by_name ? std::vector<std::string>{chosen} : wanted.names) {
    DynamicLibrary library;
    library.handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ == nullptr) {
      const char* reason = ::dlerror();
      reasons += (reasons.empty() ? "" : "; ") + std::string(reason == nullptr ? "not found" : reason);
      continue;
    }
    const link_map* map = nullptr;
    const bool known = ::dlinfo(library.handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr;
    library.file_ = known && map->l_name != nullptr && *map->l_name != '\0' ? map->l_name : name;
    return library;
  }
  return not_found(wanted.what + " cannot be loaded (" + reasons + "); " + wanted.remedy);
}

std::string DynamicLibrary::missing() const {
  return word_list(missing_);
}

void* DynamicLibrary::address_of(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

}  // namespace tidepool::runtime
