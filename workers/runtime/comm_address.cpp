#include "workers/runtime/comm_address.hpp"

#include <optional>

#include "workers/runtime/nccl/nccl_abi.hpp"

namespace tidepool::runtime {
namespace {

static_assert(api::kNcclIdBytes == nccl::kUniqueIdBytes);

std::string rank_name(std::size_t rank) {
  return "rank " + std::to_string(rank);
}

}  // namespace

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
