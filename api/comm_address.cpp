#include "api/comm_address.hpp"

#include <boost/asio/ip/address.hpp>
#include <utility>

namespace tidepool::api {
namespace {

// One byte says what follows: version (4 bytes, little end first), length of the id (0 or 128) and id; then, to the
// end, length of the host (1 byte), host, and for each rank its port (2 bytes) and key.
constexpr unsigned kHasNccl = 2;
constexpr unsigned kHasGloo = 4;
constexpr std::size_t kNcclHead = 5;
constexpr std::size_t kEntryBytes = 2 + kEntryKeyBytes;
constexpr std::size_t kHostMax = 64;

void append_number(std::string& out, unsigned value, unsigned bytes) {
  for (unsigned shift = 0; shift < 8 * bytes; shift += 8) out.push_back(static_cast<char>(value >> shift & 0xffU));
}

unsigned number_at(const std::string& in, std::size_t at, unsigned bytes) {
  unsigned value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    value |= static_cast<unsigned>(static_cast<unsigned char>(in[at + i])) << (8 * i);
  }
  return value;
}

void append(std::string& out, const CommAddress::Gloo& gloo) {
  append_number(out, static_cast<unsigned>(gloo.host.size()), 1);
  out += gloo.host;
  for (const auto& entry : gloo.entries) {
    append_number(out, entry.port, 2);
    out += entry.key.empty() ? std::string(kEntryKeyBytes, '\0') : entry.key;
  }
}

std::optional<CommAddress::Gloo> gloo_at(const std::string& in, std::size_t at) {
  if (in.size() <= at) return std::nullopt;
  const std::size_t length = number_at(in, at, 1);
  const std::size_t first = at + 1 + length;
  if (length > kHostMax || in.size() < first || (in.size() - first) % kEntryBytes != 0) return std::nullopt;
  CommAddress::Gloo gloo{.host = in.substr(at + 1, length), .entries = {}};
  if (!is_host_address(gloo.host)) return std::nullopt;
  for (std::size_t entry = first; entry < in.size(); entry += kEntryBytes) {
    gloo.entries.push_back(
        {.port = static_cast<std::uint16_t>(number_at(in, entry, 2)), .key = in.substr(entry + 2, kEntryKeyBytes)});
  }
  return gloo;
}

}  // namespace

std::string CommAddress::encode() const {
  std::string blob(1, static_cast<char>((nccl ? kHasNccl : 0U) | (gloo ? kHasGloo : 0U)));
  if (nccl) {
    append_number(blob, static_cast<unsigned>(nccl->version), 4);
    append_number(blob, static_cast<unsigned>(nccl->id.size()), 1);
    blob += nccl->id;
  }
  if (gloo) append(blob, *gloo);
  return blob;
}

Result<CommAddress> CommAddress::decode(const std::string& blob) {
  const Error broken = invalid_argument("an address that this version of Tidepool does not send");
  if (blob.empty()) return broken;
  const unsigned flags = number_at(blob, 0, 1);
  if ((flags & ~(kHasNccl | kHasGloo)) != 0) return broken;
  CommAddress address;
  std::size_t at = 1;
  if ((flags & kHasNccl) != 0) {
    if (blob.size() < at + kNcclHead) return broken;
    const std::size_t length = number_at(blob, at + 4, 1);
    address.nccl = Nccl{.version = static_cast<int>(number_at(blob, at, 4)), .id = {}};
    at += kNcclHead;
    if ((length != 0 && length != kNcclIdBytes) || blob.size() < at + length) return broken;
    address.nccl->id = blob.substr(at, length);
    at += length;
  }
  if ((flags & kHasGloo) == 0) return at == blob.size() ? Result<CommAddress>(std::move(address)) : broken;
  address.gloo = gloo_at(blob, at);
  if (!address.gloo) return broken;
  return address;
}

const CommAddress::Entry* CommAddress::Gloo::entry_of(std::size_t peer, std::size_t size) const {
  if (entries.size() == size && peer < size) return &entries[peer];
  return entries.size() == 1 ? &entries.front() : nullptr;
}

std::string address_for_rank(const std::string& blob, std::size_t rank) {
  // Looked at where it lies: all ranks are told of all blobs, and each of those has an entry for all of them.
  const unsigned flags = blob.empty() ? 0 : number_at(blob, 0, 1);
  if ((flags & ~(kHasNccl | kHasGloo)) != 0 || (flags & kHasGloo) == 0) return blob;
  std::size_t at = 1;
  if ((flags & kHasNccl) != 0) {
    if (blob.size() < at + kNcclHead) return blob;
    at += kNcclHead + number_at(blob, at + 4, 1);
  }
  if (blob.size() <= at) return blob;
  const std::size_t first = at + 1 + number_at(blob, at, 1);
  const std::size_t own = first + rank * kEntryBytes;
  if (blob.size() < own + kEntryBytes) return blob;
  return blob.substr(0, first) + blob.substr(own, kEntryBytes);
}

bool is_host_address(const std::string& text) {
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(text, failed);
  return !failed && text.find('%') == std::string::npos && !address.is_unspecified() && !address.is_multicast();
}

bool is_loopback_address(const std::string& text) {
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(text, failed);
  return !failed && address.is_loopback();
}

}  // namespace tidepool::api
