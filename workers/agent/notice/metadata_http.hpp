// One GET from the metadata service of a cloud, which answers on a link-local address of the machine itself. Plain
// HTTP: what is asked leaves the machine by no network, so no other address is taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace tidepool::agent {

struct MetadataUrl {
  std::string host;  // an address; of IPv6 without brackets
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

// With `Metadata-Flavor: Google`. Where that is answered with 401, a session token is asked for first, as AWS wants it
// (PUT /latest/api/token). An error if there is no whole answer within the limit.
[[nodiscard]] Result<MetadataReply> get_metadata(const MetadataUrl& url, std::chrono::milliseconds limit);

}  // namespace tidepool::agent
