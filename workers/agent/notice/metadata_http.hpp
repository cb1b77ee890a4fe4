// One GET request to a cloud's metadata service, which answers on a link-local address of the machine itself. Plain
// HTTP: the request does not leave the machine, so no other address is accepted.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace tidepool::agent {

struct MetadataUrl {
  std::string host;  // an address; IPv6 without brackets
  std::uint16_t port = 80;
  std::string path;
};

// "http://169.254.169.254/latest/meta-data/spot/instance-action". Only addresses that are link-local, loopback, or
// fd00:ec2::254.
[[nodiscard]] Result<MetadataUrl> parse_metadata_url(const std::string& text);

struct MetadataReply {
  int status = 0;
  std::string body;
};

// Sends `Metadata-Flavor: Google`. If the answer is 401, a session token is requested first, as AWS requires (PUT
// /latest/api/token). An error if there is no complete answer within the limit.
[[nodiscard]] Result<MetadataReply> get_metadata(const MetadataUrl& url, std::chrono::milliseconds limit);

}  // namespace tidepool::agent
