// A shared library that is loaded at run time, so that one binary runs on machines with and without it.
//
// Symbols are resolved when the library is loaded, never at first use: missing symbols are known before any work
// begins. A loaded library stays loaded for the life of the process; CUDA's cannot be unloaded.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::runtime {

class DynamicLibrary {
 public:
  // Opens the file in the environment variable `variable` if that is set and not empty; else the first of `names` that
  // loads. `what` and `remedy` complete the error's sentence if none loads.
  struct Wanted {
    std::string what;                // "NCCL"
    const char* variable;            // "TIDEPOOL_NCCL_LIBRARY"
    std::vector<std::string> names;  // as dlopen takes them: a soname or a path
    std::string remedy;              // "install ... or set TIDEPOOL_..."
  };
  [[nodiscard]] static Result<DynamicLibrary> open(const Wanted& wanted);

  // The file that was really loaded: if the process already had a library of that name, that one is used.
  [[nodiscard]] const std::string& file() const { return file_; }

  // Sets `function`; returns false if the library has no such symbol. require() also records the symbol for missing().
  template <class Function>
  bool find(const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(address_of(symbol));
    return function != nullptr;
  }
  template <class Function>
  void require(const char* symbol, Function& function) {
    if (!find(symbol, function)) missing_.emplace_back(symbol);
  }
  // Required symbols that the library lacks, for users: "ncclCommAbort, ncclCommFinalize". Empty: none is missing.
  [[nodiscard]] std::string missing() const;

 private:
  [[nodiscard]] void* address_of(const char* symbol) const;

  void* handle_ = nullptr;
  std::string file_;
  std::vector<std::string> missing_;
};

}  // namespace tidepool::runtime
