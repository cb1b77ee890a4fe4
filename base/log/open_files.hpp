// How many files and connections a program may have open. Shells and service managers allow 1,024 at first, which a
// pool of a thousand nodes, or a node of some hundred workers, uses up; the limit is raised as far as this process may
// raise it. Programs that it starts inherit it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidepool {

// Enough for the connections of clients (HttpOptions::connections) and several thousand nodes of a daemon, for the most
// workers that an agent may have, and for a worker that is connected to 1,023 others in each of two generations.
inline constexpr std::uint64_t kOpenFilesWanted = 16'384;

// Raises the soft limit up to `wanted` or to the hard limit, whichever is less; never lowers it. Gives the limit that
// holds now, and logs a warning that says what to do where it is below `wanted`. `use`: what needs them, and what fails
// without them.
std::uint64_t raise_open_files(std::string_view use, std::uint64_t wanted = kOpenFilesWanted);

}  // namespace tidepool
