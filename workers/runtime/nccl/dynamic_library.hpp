// A shared library that is loaded at run time, so that one binary runs on machines with and without it.
//
// Symbols are looked up when the library is loaded, never at first use: what is missing is known before
// any work has begun. A loaded library stays loaded for the life of the process; CUDA's cannot be unloaded.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::runtime {

class DynamicLibrary {
 public:
  // The file that the environment variable names, if it is set and not empty; else the first of `names` that loads.
  // `what` and `remedy` complete the sentence when none does.
  struct Wanted {
    std::string what;                // "NCCL"
    const char* variable;            // "TIDEPOOL_NCCL_LIBRARY"
    std::vector<std::string> names;  // as dlopen takes them: a soname or a path
    std::string remedy;              // "install ... or set TIDEPOOL_..."
  };
  [[nodiscard]] static Result<DynamicLibrary> open(const Wanted& wanted);

  // The file that was really loaded: a library of that name that the process already had wins.
  [[nodiscard]] const std::string& file() const { return file_; }

  // Fills `function`; false, and remembered, if the library has no such symbol.
  template <class Function>
  bool find(const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(address_of(symbol));
    return function != nullptr;
  }
  template <class Function>
  void require(const char* symbol, Function& function) {
    if (!find(symbol, function)) missing_.emplace_back(symbol);
  }
  // Required symbols that were not there, in words: "ncclCommAbort, ncclCommFinalize". Empty: all were.
  [[nodiscard]] std::string missing() const;

 private:
  [[nodiscard]] void* address_of(const char* symbol) const;

  void* handle_ = nullptr;
  std::string file_;
  std::vector<std::string> missing_;
};

}  // namespace tidepool::runtime
