// Checks of invariants. They stay enabled in every build: a scheduler whose state contradicts itself must stop and
// recover from the journal instead of assigning more GPUs.
#pragma once

#include <string>

namespace tidepool {

// Prints the broken law, the source location and the seed of the running property (if any), then aborts.
[[noreturn]] void check_failed(const char* condition, const char* law, const char* file, int line);

// Property and simulation tests set the current seed, so that a crash message says how to repeat it.
void set_running_seed(const std::string& seed);

}  // namespace tidepool

// TP_CHECK(free >= 0, "no slot is given twice"): state the law, positively.
#define TP_CHECK(condition, law)                                       \
  do {                                                                 \
    if (!(condition)) {                                                \
      ::tidepool::check_failed(#condition, (law), __FILE__, __LINE__); \
    }                                                                  \
  } while (false)
