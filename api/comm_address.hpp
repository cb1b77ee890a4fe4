// What a worker tells the others before they connect: which transports it has, and where it is to be found on each.
// Passed on by agents and daemon as opaque bytes, but for the host, which the worker's agent checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::api {

// Where all on one machine meet, such as the workers of an agent that reaches its daemon over a Unix socket.
inline constexpr const char* kLoopbackHost = "127.0.0.1";

inline constexpr std::size_t kNcclIdBytes = 128;
inline constexpr std::size_t kEntryKeyBytes = 16;

struct CommAddress {
  struct Nccl {
    int version = 0;  // 22809 = 2.28.9
    std::string id;   // of rank 0, else empty
  };
  // Where one peer is to connect, and the key that it must show there, which workers learn from the daemon only.
  struct Entry {
    std::uint16_t port = 0;
    std::string key;  // kEntryKeyBytes

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Gloo {
    std::string host;            // of all entries, an IP address
    std::vector<Entry> entries;  // by the peer's rank; a blank one for the worker itself

    // Of the peer; null: it tells none. One entry alone is the peer's, whatever its rank (address_for_rank()).
    [[nodiscard]] const Entry* entry_of(std::size_t peer, std::size_t size) const;

    friend bool operator==(const Gloo&, const Gloo&) = default;
  };
  std::optional<Nccl> nccl;
  std::optional<Gloo> gloo;

  // Requires: each key is empty or has kEntryKeyBytes.
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Result<CommAddress> decode(const std::string& blob);
};

// The same without the entries of ranks other than this one; what is no address of this kind stays as it is.
[[nodiscard]] std::string address_for_rank(const std::string& blob, std::size_t rank);

// An IPv4 or IPv6 address that another process can connect to: no name, scope, port, wildcard or multicast.
[[nodiscard]] bool is_host_address(const std::string& text);
[[nodiscard]] bool is_loopback_address(const std::string& text);

}  // namespace tidepool::api
