// Locks the calling process down before it looks at anything a policy author wrote. This cannot be undone. After
// enter(): no new descriptor, file, socket, process, thread or executable memory; a system call that is not on the list
// ends the process and reports its number to the daemon. Memory is bounded; the daemon bounds time.
#pragma once

#include <cstdint>

namespace tidepool::policies::host::process {

// False, with errno or a negative libseccomp code in `failed`, if the system refuses; the process must then end.
struct Locked {
  bool ok = false;
  const char* step = "";  // what was refused
  int failed = 0;
};

// Before the source is known: drops root, closes what was inherited, sets limits, dies with its parent.
[[nodiscard]] Locked drop_rights();
// `memory`, in both: bytes that may be mapped beyond what is mapped now.
// For a native library only: after this call files may be read and libraries mapped, nothing else beyond the list.
[[nodiscard]] Locked allow_loading(std::uint64_t memory);
// The list itself.
[[nodiscard]] Locked enter(std::uint64_t memory);

}  // namespace tidepool::policies::host::process
