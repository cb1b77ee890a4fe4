// Raises the limit of open files and connections of a program. Shells and service managers often set 1,024, which is
// too low for a pool of a thousand nodes or a node of some hundred workers; the limit is raised as far as this process
// is allowed to. Programs that it starts inherit it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidepool {

// Enough for a daemon's client connections (HttpOptions::connections) and several thousand nodes, for the most workers
// that an agent can have, and for a worker that is connected to 1,023 others in each of two generations.
inline constexpr std::uint64_t kOpenFilesWanted = 16'384;

// Raises the soft limit to `wanted` or to the hard limit, whichever is less; never lowers it. Returns the limit now in
// effect; if that is below `wanted`, logs a warning that says what to do. `use`: what needs the files, and what fails
// without them.
std::uint64_t raise_open_files(std::string_view use, std::uint64_t wanted = kOpenFilesWanted);

}  // namespace tidepool
