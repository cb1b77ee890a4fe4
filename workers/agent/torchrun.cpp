#include "workers/agent/torchrun.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "api/comm_address.hpp"
#include "base/json.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

// Below Linux's default ip_local_port_range, which begins at 32768.
constexpr int kPortFirst = 20'000;
constexpr int kPorts = 12'000;
constexpr int kSlotNumberMax = 65'535;

// Binds on all addresses, of both families if the node has both.
UniqueFd bind_everywhere(int port) {
  UniqueFd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket) {
    const int off = 0;
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(static_cast<std::uint16_t>(port));
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0) return socket;
    if (errno == EADDRINUSE) return {};
  }
  socket.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(port));
  if (socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0) return socket;
  return {};
}

Result<std::vector<RankAddress>> read_all(const std::vector<std::string>& blobs) {
  std::vector<RankAddress> all;
  for (const auto& blob : blobs) {
    auto address = address_of_blob(blob);
    if (!address) return address.error();
    all.push_back(*std::move(address));
  }
  return all;
}

}  // namespace

std::string to_blob(const RankAddress& address) {
  return canonical_json(
      {{"node", address.node}, {"host", address.host}, {"port", address.port}, {"slots", address.slots}});
}

Result<RankAddress> address_of_blob(const std::string& blob) {
  const auto parsed = parse_json(blob);
  if (!parsed) return parsed.error();
  std::vector<FieldError> errors;
  ObjectReader in(*parsed, "", errors);
  RankAddress address{.node = in.required_text("node"), .host = in.required_text("host")};
  address.port = static_cast<int>(in.required_integer("port", {.low = 0, .high = 65'535}));
  const auto& slots = in.raw("slots");
  for (const auto& slot : slots.is_array() ? slots : nlohmann::json::array()) {
    if (!slot.is_number_unsigned() || slot > kSlotNumberMax) in.fail("slots", "Invalid", "must hold slot numbers");
    if (errors.empty()) address.slots.push_back(slot.get<int>());
  }
  in.finish();
  if (!errors.empty()) return invalid_argument("a rank's address is damaged: " + errors.front().message);
  return address;
}

Result<RankSurroundings> surroundings_of(const Place& place) {
  const auto all = read_all(place.blobs);
  if (!all) return all.error();
  const auto rank = static_cast<std::size_t>(place.rank);
  const RankAddress& first = all->front();
  if (api::is_loopback_address(first.host) && (*all)[rank].node != first.node &&
      !api::is_loopback_address((*all)[rank].host)) {
    return invalid_argument("rank 0 runs on node " + first.node + ", whose data address " + first.host +
                            " other nodes cannot reach; start that agent with --data-address, or with --daemon " +
                            "HOST:PORT by a route that the other nodes share");
  }
  std::map<std::string, int> group_of;  // by node
  int local_rank = 0;
  int local_size = 0;
  std::vector<int> slots;
  for (std::size_t other = 0; other < all->size(); ++other) {
    group_of.emplace((*all)[other].node, static_cast<int>(group_of.size()));
    if ((*all)[other].node != (*all)[rank].node) continue;
    if (other < rank) ++local_rank;
    ++local_size;
    slots.insert(slots.end(), (*all)[other].slots.begin(), (*all)[other].slots.end());
  }
  const std::string size = std::to_string(all->size());
  std::map<std::string, std::string> environment{
      {"RANK", std::to_string(place.rank)},
      {"WORLD_SIZE", size},
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"LOCAL_WORLD_SIZE", std::to_string(local_size)},
      {"GROUP_RANK", std::to_string(group_of.at((*all)[rank].node))},
      {"GROUP_WORLD_SIZE", std::to_string(group_of.size())},
      {"ROLE_NAME", "default"},
      {"ROLE_RANK", std::to_string(place.rank)},
      {"ROLE_WORLD_SIZE", size},
      {"MASTER_ADDR", first.host},
      {"MASTER_PORT", std::to_string(first.port)},
      {"TORCHELASTIC_RESTART_COUNT", std::to_string(place.generation - 1)},
      {"TIDEPOOL_GENERATION", std::to_string(place.generation)},
      {"TIDEPOOL_SIZE", size},
  };
  return RankSurroundings{std::move(environment), std::move(slots)};
}

Result<ReservedPort> ReservedPort::take(std::uint64_t draw) {
  for (int tried = 0; tried < kPorts; ++tried) {
    const int port = kPortFirst + static_cast<int>((draw + static_cast<std::uint64_t>(tried)) % kPorts);
    if (UniqueFd socket = bind_everywhere(port)) return ReservedPort(std::move(socket), port);
  }
  return io_error("no port from " + std::to_string(kPortFirst) + " to " + std::to_string(kPortFirst + kPorts - 1) +
                  " is free on this node for rank 0 to listen on");
}

}  // namespace tidepool::agent
