// Whole reads and writes on file descriptors, with errors that name the file. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.hpp"

namespace tidepool::runtime {

// Closes the descriptor in its destructor. get() < 0: none.
class OwnedFile {
 public:
  explicit OwnedFile(int fd) : fd_(fd) {}
  ~OwnedFile();
  OwnedFile(OwnedFile&& other) noexcept;
  OwnedFile& operator=(OwnedFile&& other) noexcept;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// "cannot <attempt>: <text of errno>".
[[nodiscard]] Error file_error(const std::string& attempt);

[[nodiscard]] Result<OwnedFile> open_for_reading(const std::filesystem::path& path);
// Creates or empties the file, readable and writable for its owner only.
[[nodiscard]] Result<OwnedFile> create_file(const std::filesystem::path& path);
[[nodiscard]] Status write_whole(const OwnedFile& file, std::span<const std::byte> bytes);
// Reads from `offset` on. An error if the file ends before `bytes` is full.
[[nodiscard]] Status read_whole(const OwnedFile& file, std::uint64_t offset, std::span<std::byte> bytes);
// Returns once the file's bytes are on the disk, not only in the cache.
[[nodiscard]] Status flush_file(const OwnedFile& file);
// Returns once the names in the folder are on the disk.
[[nodiscard]] Status flush_folder(const std::filesystem::path& folder);

}  // namespace tidepool::runtime
