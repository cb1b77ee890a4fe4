// One replica's state in one file: a header in JSON, then the registered pieces of memory, each with a checksum. A
// reader gets the whole state, or an error that says what is wrong; it never gets a part.
//
//   "tidepool" | format u32 | header bytes u32 | header checksum u64 | header | piece | piece | ...
//
// Numbers are in the byte order of the writing machine, and so are the pieces. Checksums: XXH3, 64 bits.
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
  std::string owner;                   // the job; empty: a worker without a job
  std::uint64_t layout = 0;            // fingerprint of the names and sizes that make up a replica
  std::int64_t step = 0;               // committed
  std::vector<std::int64_t> progress;  // the whole Progress as words
};

struct NamedBytes {
  std::string name;
  std::span<const std::byte> bytes;
};

// Writes to `path` and flushes it to disk. Meant for a temporary name: see checkpoint_folder.hpp.
[[nodiscard]] Status write_checkpoint(const std::filesystem::path& path, const CheckpointHeader& header,
                                      std::span<const NamedBytes> pieces);

// An open checkpoint: the header is read and its checksum is correct. Errors are kInvalidArgument if the file is
// damaged.
class CheckpointFile {
 public:
  [[nodiscard]] static Result<CheckpointFile> open(const std::filesystem::path& path);

  [[nodiscard]] const CheckpointHeader& header() const { return header_; }
  [[nodiscard]] std::uint64_t bytes() const;  // of all pieces

  // The pieces one after the other; an error unless every piece matches its checksum.
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
  OwnedFile file_;  // stays readable after the file is moved or removed
  std::uint64_t pieces_begin_ = 0;
  CheckpointHeader header_;
  std::vector<Piece> pieces_;
};

// 64-bit XXH3 of `bytes`: detects damage and changes, not for security.
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace tidepool::runtime
