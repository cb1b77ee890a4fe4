// How many connections a listener holds, of all together and from each address. Rule: others never take the last ones,
// so that an operator on the machine itself is let in whatever comes from the network.
#pragma once

#include <boost/asio/ip/address.hpp>

#include <map>
#include <string>

namespace tidepool::api {

// Whose connections are counted together.
struct Peer {
  std::string group;  // an address; of IPv6 its network of 64 bits, all of which one machine may have
  bool is_here = false;
};
// `own`: the address that the peer has connected to. One that comes from there, or from loopback, is on this machine,
// and is counted by its whole address.
[[nodiscard]] Peer peer_of(const boost::asio::ip::address& from, const boost::asio::ip::address& own);

class ConnectionCap {
 public:
  struct Limits {
    int all = 0;
    int kept_for_here = 0;  // of these, for peers on this machine
    int per_group = 0;
    int per_group_here = 0;  // of this machine, which many users may share
  };
  explicit ConnectionCap(const Limits& limits) : limits_(limits) {}

  // Whether there is room for one more, which counts from then on.
  [[nodiscard]] bool take(const Peer& peer);
  void give_back(const Peer& peer);

 private:
  Limits limits_;
  int all_ = 0;
  int others_ = 0;  // that are not on this machine
  std::map<std::string, int> by_group_;
};

}  // namespace tidepool::api
