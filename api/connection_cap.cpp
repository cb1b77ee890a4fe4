#include "api/connection_cap.hpp"

#include <algorithm>

namespace tidepool::api {
namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t kNetworkBytes = 8;

// As one of IPv4 where that is what it stands for.
ip::address plain(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

}  // namespace

Peer peer_of(const ip::address& from, const ip::address& own) {
  const ip::address address = plain(from);
  if (address.is_loopback() || address == plain(own)) return {.group = address.to_string(), .is_here = true};
  if (address.is_v4()) return {.group = address.to_string(), .is_here = false};
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + kNetworkBytes, bytes.end(), static_cast<unsigned char>(0));
  return {.group = ip::address_v6(bytes).to_string() + "/64", .is_here = false};
}

bool ConnectionCap::take(const Peer& peer) {
  if (all_ >= limits_.all) return false;
  if (!peer.is_here && others_ >= limits_.all - limits_.kept_for_here) return false;
  int& of_group = by_group_[peer.group];
  if (of_group >= (peer.is_here ? limits_.per_group_here : limits_.per_group)) return false;
  ++of_group;
  ++all_;
  if (!peer.is_here) ++others_;
  return true;
}

void ConnectionCap::give_back(const Peer& peer) {
  const auto of_group = by_group_.find(peer.group);
  if (--of_group->second == 0) by_group_.erase(of_group);
  --all_;
  if (!peer.is_here) --others_;
}

}  // namespace tidepool::api
