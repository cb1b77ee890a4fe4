// A file of tokens that a tokenizer has written, mapped into memory: only the pages that a step uses are
// read, so the data may be larger than the memory. All numbers are little endian:
//
//   bytes 0..7    "TIDETOK1"
//         8..11   bytes per token: 2 or 4, unsigned
//        12..15   vocabulary: every token is below it, >= 2
//        16..23   number of tokens
//        24..     the tokens
//
// The header is checked against the file's length when the file is opened, each token when it is used.
// examples/write_tokens.py writes such files. The file must not change while it is in use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "workers/trainer/data_set.hpp"

namespace tidepool::trainer {

inline constexpr std::size_t kTokenHeaderBytes = 24;

// Whether a file has the first bytes of a token file.
[[nodiscard]] bool is_token_file(const std::filesystem::path& path);

// A file mapped for reading.
class MappedFile {
 public:
  [[nodiscard]] static Result<std::unique_ptr<MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// Sample k is the token at k + context, given the `context` tokens before it.
class TokenFile final : public DataSet {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DataSet>> open(const std::filesystem::path& path, int context);

  [[nodiscard]] std::uint64_t samples() const override { return tokens_ - static_cast<std::uint64_t>(context_); }
  [[nodiscard]] int inputs() const override { return context_; }
  [[nodiscard]] int classes() const override { return static_cast<int>(vocabulary_); }
  [[nodiscard]] Status fill(std::span<const std::uint64_t> samples, Batch& batch) const override;

 private:
  TokenFile(std::string name, std::unique_ptr<MappedFile> file, int context);

  [[nodiscard]] std::uint32_t token(std::uint64_t position) const;

  std::string name_;
  std::unique_ptr<MappedFile> file_;
  int context_;
  std::uint32_t width_;       // bytes per token
  std::uint32_t vocabulary_;  // fits an int
  std::uint64_t tokens_;
};

}  // namespace tidepool::trainer
