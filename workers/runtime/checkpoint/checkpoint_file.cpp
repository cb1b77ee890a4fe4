#include "workers/runtime/checkpoint/checkpoint_file.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>

#include "base/json.hpp"

namespace tidepool::runtime {
namespace {

using nlohmann::json;

constexpr std::array<char, 8> kMagic{'t', 'i', 'd', 'e', 'p', 'o', 'o', 'l'};
constexpr std::uint32_t kFormat = 1;
constexpr std::uint32_t kHeaderBytesMax = 16U << 20U;

struct Preamble {
  std::array<char, 8> magic = kMagic;
  std::uint32_t format = kFormat;
  std::uint32_t header_bytes = 0;
  std::uint64_t header_checksum = 0;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Status write_checkpoint(const std::filesystem::path& path, const CheckpointHeader& header,
                        std::span<const NamedBytes> pieces) {
  json listed = json::array();
  for (const NamedBytes& piece : pieces) {
    listed.push_back({{"name", piece.name}, {"bytes", piece.bytes.size()}, {"checksum", checksum_of(piece.bytes)}});
  }
  const std::string text = canonical_json({{"owner", header.owner},
                                           {"layout", header.layout},
                                           {"step", header.step},
                                           {"progress", header.progress},
                                           {"pieces", listed}});
  const Preamble preamble{.header_bytes = static_cast<std::uint32_t>(text.size()),
                          .header_checksum = checksum_of(bytes_of(text))};
  const auto file = create_file(path);
  if (!file.ok()) return file.error();
  TP_TRY(write_whole(*file, std::as_bytes(std::span(&preamble, 1))));
  TP_TRY(write_whole(*file, bytes_of(text)));
  for (const NamedBytes& piece : pieces) TP_TRY(write_whole(*file, piece.bytes));
  return flush_file(*file);
}

Result<CheckpointFile> CheckpointFile::open(const std::filesystem::path& path) {
  auto file = open_for_reading(path);
  if (!file.ok()) return file.error();
  CheckpointFile opened(path, *std::move(file));
  Preamble preamble;
  const Status read = read_whole(opened.file_, 0, std::as_writable_bytes(std::span(&preamble, 1)));
  if (!read.ok()) return opened.damaged(read.error().message);
  if (preamble.magic != kMagic) return opened.damaged("it does not begin as a checkpoint of tidepool does");
  if (preamble.format != kFormat) {
    return opened.damaged("it has format " + std::to_string(preamble.format) + ", this version reads " +
                          std::to_string(kFormat));
  }
  if (preamble.header_bytes > kHeaderBytesMax) return opened.damaged("its header is too long");
  std::string text(preamble.header_bytes, '\0');
  if (const Status body = read_whole(opened.file_, sizeof preamble, std::as_writable_bytes(std::span(text)));
      !body.ok()) {
    return opened.damaged(body.error().message);
  }
  if (checksum_of(bytes_of(text)) != preamble.header_checksum) {
    return opened.damaged("its header does not match its checksum");
  }
  TP_TRY(opened.parse(text));
  return opened;
}

Status CheckpointFile::parse(const std::string& text) {
  const auto parsed = parse_json(text, {.bytes_max = kHeaderBytesMax, .depth_max = 8, .values_max = kHeaderBytesMax});
  if (!parsed.ok()) return damaged(parsed.error().message);
  try {
    header_ = {.owner = parsed->at("owner").get<std::string>(),
               .layout = parsed->at("layout").get<std::uint64_t>(),
               .step = parsed->at("step").get<std::int64_t>(),
               .progress = parsed->at("progress").get<std::vector<std::int64_t>>()};
    for (const json& piece : parsed->at("pieces")) {
      pieces_.push_back({.name = piece.at("name").get<std::string>(),
                         .bytes = piece.at("bytes").get<std::uint64_t>(),
                         .checksum = piece.at("checksum").get<std::uint64_t>()});
    }
  } catch (const json::exception& error) {
    return damaged(error.what());
  }
  pieces_begin_ = sizeof(Preamble) + text.size();
  std::error_code error;
  const std::uintmax_t present = std::filesystem::file_size(path_, error);
  const std::uint64_t whole = pieces_begin_ + bytes();
  if (!error && present == whole) return ok_status();
  return damaged("it has " + std::to_string(error ? 0 : present) + " bytes of " + std::to_string(whole));
}

std::uint64_t CheckpointFile::bytes() const {
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.bytes;
  return sum;
}

Result<std::vector<std::byte>> CheckpointFile::read() const {
  std::vector<std::byte> memory(bytes());
  std::size_t offset = 0;
  for (const Piece& piece : pieces_) {
    const std::span<std::byte> target = std::span(memory).subspan(offset, piece.bytes);
    if (const Status status = read_whole(file_, pieces_begin_ + offset, target); !status.ok())
      return damaged(status.error().message);
    if (checksum_of(target) != piece.checksum) return damaged("\"" + piece.name + "\" does not match its checksum");
    offset += piece.bytes;
  }
  return memory;
}

Error CheckpointFile::damaged(const std::string& why) const {
  return invalid_argument(path_.string() + " is damaged: " + why);
}

}  // namespace tidepool::runtime
