#include "workers/trainer/token_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace tidepool::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "TIDETOK1";
constexpr std::size_t kWidthAt = 8;
constexpr std::size_t kVocabularyAt = 12;
constexpr std::size_t kCountAt = 16;
constexpr std::uint32_t kVocabularyMax = 1U << 24U;  // each token needs a row in the model's tables

// Little endian on every machine.
template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) {
    number = static_cast<Number>((number << 8U) | std::to_integer<Number>(bytes[at + i]));
  }
  return number;
}

std::string reason() {
  return std::generic_category().message(errno);
}

Status check_header(const std::string& name, std::span<const std::byte> bytes, int context) {
  const auto bad = [&](const std::string& what) { return invalid_argument("the token file " + name + " " + what); };
  const bool magic = bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  if (!magic || bytes.size() < kTokenHeaderBytes) return bad("does not begin with a header of TIDETOK1");
  const auto width = number_at<std::uint32_t>(bytes, kWidthAt);
  if (width != 2 && width != 4) return bad("has " + std::to_string(width) + " bytes a token: 2 and 4 are known");
  const auto vocabulary = number_at<std::uint32_t>(bytes, kVocabularyAt);
  if (vocabulary < 2 || vocabulary > kVocabularyMax) {
    return bad("has a vocabulary of " + std::to_string(vocabulary) + ": it must lie between 2 and 2^24");
  }
  const auto count = number_at<std::uint64_t>(bytes, kCountAt);
  const std::uint64_t held = (bytes.size() - kTokenHeaderBytes) / width;
  if (count != held || (bytes.size() - kTokenHeaderBytes) % width != 0) {
    return bad("says that it has " + std::to_string(count) + " tokens, but holds " + std::to_string(held) +
               ": it was cut off or not written to its end; write it again");
  }
  if (count <= static_cast<std::uint64_t>(context)) {
    return bad("has " + std::to_string(count) + " tokens; it needs more than the context of " +
               std::to_string(context) + ": lower context or use more data");
  }
  return ok_status();
}

}  // namespace

bool is_token_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  return in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

Result<std::unique_ptr<MappedFile>> MappedFile::open(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error("cannot read the data file " + path.string() + ": " + reason());
  struct stat status{};
  const bool known = ::fstat(fd, &status) == 0;
  const auto size = known ? static_cast<std::size_t>(status.st_size) : 0;
  void* memory = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  const std::string problem = reason();
  ::close(fd);  // the mapping stays valid
  if (!known || memory == MAP_FAILED) {
    return io_error("cannot map the data file " + path.string() + " into memory: " + problem);
  }
  return std::unique_ptr<MappedFile>(new MappedFile({static_cast<const std::byte*>(memory), size}));
}

MappedFile::~MappedFile() {
  // munmap takes a non-const pointer; nothing is written.
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<std::unique_ptr<DataSet>> TokenFile::open(const fs::path& path, int context) {
  auto file = MappedFile::open(path);
  if (!file.ok()) return file.error();
  const std::string name = path.filename().string();
  TP_TRY(check_header(name, (*file)->bytes(), context));
  return std::unique_ptr<DataSet>(new TokenFile(name, std::move(*file), context));
}

TokenFile::TokenFile(std::string name, std::unique_ptr<MappedFile> file, int context)
    : name_(std::move(name)),
      file_(std::move(file)),
      context_(context),
      width_(number_at<std::uint32_t>(file_->bytes(), kWidthAt)),
      vocabulary_(number_at<std::uint32_t>(file_->bytes(), kVocabularyAt)),
      tokens_(number_at<std::uint64_t>(file_->bytes(), kCountAt)) {}

std::uint32_t TokenFile::token(std::uint64_t position) const {
  const std::size_t at = kTokenHeaderBytes + position * width_;
  if (width_ == 2) return number_at<std::uint16_t>(file_->bytes(), at);
  return number_at<std::uint32_t>(file_->bytes(), at);
}

Status TokenFile::fill(std::span<const std::uint64_t> samples, Batch& batch) const {
  const auto context = static_cast<std::uint64_t>(context_);
  batch.numbers.clear();
  batch.tokens.resize(context * samples.size());
  batch.classes.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::uint64_t k = 0; k <= context; ++k) {
      const std::uint32_t value = token(samples[i] + k);
      if (value >= vocabulary_) {
        return invalid_argument("token " + std::to_string(samples[i] + k) + " of " + name_ + " is " +
                                std::to_string(value) + ", which is not below its vocabulary of " +
                                std::to_string(vocabulary_) + ": the file is damaged; write it again");
      }
      int& place = k < context ? batch.tokens[i * context + k] : batch.classes[i];
      place = static_cast<int>(value);
    }
  }
  return ok_status();
}

}  // namespace tidepool::trainer
