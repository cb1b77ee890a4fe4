// One replica's state in one file: a header in JSON, then the registered pieces of memory, each with a
// checksum. A reader gets all of it or an error that says what is wrong; it never gets half.
//
//   "tidepool" | format u32 | header bytes u32 | header checksum u64 | header | piece | piece | ...
//
// Numbers in the byte order of the machine that wrote it, as the pieces themselves are. Checksums: XXH3, 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/runtime/checkpoint/file_io.hpp"

namespace tidepool::runtime {

struct CheckpointHeader {
  std::string owner;                   // of which job; empty: a worker alone
  std::uint64_t layout = 0;            // fingerprint of what makes up a replica
  std::int64_t step = 0;               // committed
  std::vector<std::int64_t> progress;  // all of Progress, as words
};

struct NamedBytes {
  std::string name;
  std::span<const std::byte> bytes;
};

// Writes to `path` and flushes it to disk. Meant for a temporary name: see checkpoint_folder.hpp.
[[nodiscard]] Status write_checkpoint(const std::filesystem::path& path, const CheckpointHeader& header,
                                      std::span<const NamedBytes> pieces);

// Opened: the header is read and has its checksum. Errors are kInvalidArgument where the file is damaged.
class CheckpointFile {
 public:
  [[nodiscard]] static Result<CheckpointFile> open(const std::filesystem::path& path);

  [[nodiscard]] const CheckpointHeader& header() const { return header_; }
  [[nodiscard]] std::uint64_t bytes() const;  // of all pieces

  // The pieces one after the other; an error unless every one has its checksum.
  [[nodiscard]] Result<std::vector<std::byte>> read() const;

 private:
  struct Piece {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;
  };
  CheckpointFile(std::filesystem::path path, OwnedFile file) : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] Status parse(const std::string& text);
  [[nodiscard]] Error damaged(const std::string& why) const;

  std::filesystem::path path_;
  OwnedFile file_;  // stays readable when the file is moved or removed
  std::uint64_t pieces_begin_ = 0;
  CheckpointHeader header_;
  std::vector<Piece> pieces_;
};

// 64-bit XXH3 of `bytes`: for telling damage and change, not for security.
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace tidepool::runtime
