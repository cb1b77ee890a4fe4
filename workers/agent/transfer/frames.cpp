#include "workers/agent/transfer/frames.hpp"

#include <algorithm>

#include "workers/runtime/checkpoint/checkpoint_file.hpp"

namespace tidepool::agent {
namespace {

template <class Number>
void put(std::string& out, Number number) {
  for (std::size_t byte = 0; byte < sizeof number; ++byte) {
    out += static_cast<char>(number & 0xffU);
    number = static_cast<Number>(static_cast<std::uint64_t>(number) >> 8U);
  }
}

std::uint64_t take(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    number = (number << 8U) | std::to_integer<std::uint64_t>(*byte);
  }
  return number;
}

std::string header(std::uint32_t size, std::uint64_t checksum) {
  std::string out;
  put(out, size);
  put(out, std::uint32_t{0});
  put(out, checksum);
  return out;
}

}  // namespace

void FileChecksum::add(std::span<const std::byte> chunk) {
  std::string sum;
  put(sum, runtime::checksum_of(chunk));
  for (const char each : sum) sums_.push_back(static_cast<std::byte>(each));
}

std::uint64_t FileChecksum::value() const {
  return runtime::checksum_of(sums_);
}

std::string frame_of(std::span<const std::byte> chunk) {
  std::string out = header(static_cast<std::uint32_t>(chunk.size()), runtime::checksum_of(chunk));
  out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  return out;
}

std::string end_frame(std::uint64_t checksum) {
  return header(0, checksum);
}

void FrameReader::append(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Frame>> FrameReader::next() {
  if (bytes_.size() < kFrameHeader) return std::optional<Frame>();
  const std::span<const std::byte> all(bytes_);
  const std::uint64_t size = take(all.subspan(0, 4));
  if (size > kStateChunk || take(all.subspan(4, 4)) != 0) return io_error("a frame of the state has no proper header");
  if (bytes_.size() < kFrameHeader + size) return std::optional<Frame>();
  Frame frame{.chunk = {}, .checksum = take(all.subspan(8, 8))};
  const auto chunk = all.subspan(kFrameHeader, size);
  frame.chunk.assign(chunk.begin(), chunk.end());
  if (size > 0 && runtime::checksum_of(frame.chunk) != frame.checksum) {
    return io_error("a chunk of the state came with another checksum than it has");
  }
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(kFrameHeader + size));
  return std::optional(std::move(frame));
}

}  // namespace tidepool::agent
