// The transfer of a file as frames. Pure: bytes in, chunks out.
//
//   size u32 | zero u32 | checksum u64 | `size` bytes      ... and at the end size 0 and the checksum of the file
//
// Numbers are little endian. All chunks except the last have kStateChunk bytes, counted from the start of the file, so
// a transfer resumes at a multiple of that. Checksums: XXH3, 64 bits; of the file: over its chunks' checksums in order.
// They detect damage on a disk or in memory; TLS protects against deliberate changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::agent {

inline constexpr std::size_t kStateChunk = std::size_t{1} << 20U;
inline constexpr std::size_t kFrameHeader = 16;

// The checksum of a file, computed chunk by chunk.
class FileChecksum {
 public:
  void add(std::span<const std::byte> chunk);
  [[nodiscard]] std::uint64_t value() const;

 private:
  std::vector<std::byte> sums_;  // eight bytes per chunk
};

[[nodiscard]] std::string frame_of(std::span<const std::byte> chunk);
[[nodiscard]] std::string end_frame(std::uint64_t checksum);

struct Frame {
  std::vector<std::byte> chunk;  // empty: the end of the file
  std::uint64_t checksum = 0;    // of the chunk; at the end, of the file
};

class FrameReader {
 public:
  void append(std::span<const std::byte> bytes);
  // None: the next frame is not complete yet. An error: it is damaged, and nothing more can be read.
  [[nodiscard]] Result<std::optional<Frame>> next();

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace tidepool::agent
