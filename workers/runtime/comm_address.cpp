#include "workers/runtime/comm_address.hpp"

#include <cstdint>

#include "workers/runtime/nccl/nccl_abi.hpp"

namespace tidepool::runtime {
namespace {

// One byte says what follows: version (4 bytes, little end first), length of the id (0 or 128) and id; then, to the
// end, Gloo's own.
constexpr unsigned kHasGloo = 1;
constexpr unsigned kHasNccl = 2;
constexpr std::size_t kNcclHead = 5;

std::string rank_name(std::size_t rank) {
  return "rank " + std::to_string(rank);
}

}  // namespace

std::string CommAddress::encode() const {
  std::string blob(1, static_cast<char>((gloo ? kHasGloo : 0U) | (nccl ? kHasNccl : 0U)));
  if (nccl) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      blob.push_back(static_cast<char>(static_cast<unsigned>(nccl->version) >> shift & 0xffU));
    }
    blob.push_back(static_cast<char>(nccl->id.size()));
    blob += nccl->id;
  }
  if (gloo) blob += *gloo;
  return blob;
}

Result<CommAddress> CommAddress::decode(const std::string& blob) {
  const Error broken = invalid_argument("an address that no version of Tidepool sends");
  if (blob.empty()) return broken;
  const auto flags = static_cast<unsigned char>(blob[0]);
  CommAddress address;
  std::size_t at = 1;
  if ((flags & kHasNccl) != 0) {
    if (blob.size() < at + kNcclHead) return broken;
    Nccl nccl;
    for (unsigned i = 0; i < 4; ++i) {
      nccl.version |= static_cast<int>(static_cast<unsigned>(static_cast<unsigned char>(blob[at + i])) << (8 * i));
    }
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(blob[at + 4]));
    at += kNcclHead;
    if ((length != 0 && length != nccl::kUniqueIdBytes) || blob.size() < at + length) return broken;
    nccl.id = blob.substr(at, length);
    at += length;
    address.nccl = std::move(nccl);
  }
  if ((flags & kHasGloo) != 0) {
    address.gloo = blob.substr(at);
  } else if (at != blob.size()) {
    return broken;
  }
  return address;
}

Result<AgreedTransport> agree_on_transport(const std::vector<CommAddress>& addresses) {
  std::optional<std::size_t> with_nccl;
  std::optional<std::size_t> without_nccl;
  std::optional<std::size_t> without_gloo;
  std::string why;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    const CommAddress& address = addresses[rank];
    (address.nccl ? with_nccl : without_nccl) = rank;
    if (!address.gloo) without_gloo = rank;
    const bool differs = address.nccl && addresses[0].nccl && address.nccl->version != addresses[0].nccl->version;
    if (differs) why = rank_name(rank) + " has another version of NCCL than rank 0";
  }
  if (!with_nccl && !without_gloo) return AgreedTransport{};
  if (why.empty() && !without_nccl) return AgreedTransport{.transport = Transport::kNccl};
  if (without_nccl) why = rank_name(*without_nccl) + " has no NCCL";
  if (!without_gloo) return AgreedTransport{.transport = Transport::kGloo, .why_not_nccl = why};
  return invalid_argument(why + " and " + rank_name(*without_gloo) +
                          " takes nothing else: give all workers the same NCCL, or the same TIDEPOOL_BACKEND");
}

}  // namespace tidepool::runtime
