// A disk that fails on demand: an SQLite VFS named "fault" over the system's own. The k-th write, sync
// or truncation goes wrong in the chosen way; after a crash nothing works any more, as after a power
// cut, and what is in the files is what a restart finds.
#pragma once

#include <cstdint>

namespace tidepool::test {

enum class DiskFault {
  kNone,
  kError,     // the operation fails, later ones work
  kFull,      // likewise, with "disk full"
  kTorn,      // half of a write reaches the disk, then the machine is gone
  kSyncLost,  // the operation fails and the machine is gone
};

inline constexpr const char* kFaultVfs = "fault";

// Registers the VFS at the first call. Counting starts anew: operation `at` (from 1) fails.
void arm_disk_fault(DiskFault fault, std::int64_t at);
// Operations counted since.
[[nodiscard]] std::int64_t disk_operations();
// Whether the fault has struck.
[[nodiscard]] bool disk_fault_struck();

}  // namespace tidepool::test
