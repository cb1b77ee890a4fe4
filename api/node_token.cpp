#include "api/node_token.hpp"

namespace tidepool::api {
namespace {

constexpr std::string_view kBegin = "tpn_";
constexpr std::string_view kHash = "sha256:";
constexpr std::size_t kFingerprintDigits = 64;

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string to_text(const NodeTokenText& token) {
  return std::string(kBegin) + token.id + "_" + token.secret + "_" + token.ca_fingerprint.substr(kHash.size());
}

Result<NodeTokenText> read_node_token(std::string_view text) {
  const Error wrong =
      invalid_argument("this is no node token; it begins with tpn_ and is shown once, by: schedctl node token create");
  if (!text.starts_with(kBegin)) return wrong;
  text.remove_prefix(kBegin.size());
  const std::size_t first = text.find('_');
  const std::size_t second = text.find('_', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return wrong;
  const std::string_view id = text.substr(0, first);
  const std::string_view secret = text.substr(first + 1, second - first - 1);
  const std::string_view digits = text.substr(second + 1);
  if (!is_hex(id) || !is_hex(secret) || !is_hex(digits) || digits.size() != kFingerprintDigits) return wrong;
  return NodeTokenText{
      .id = std::string(id), .secret = std::string(secret), .ca_fingerprint = std::string(kHash) + std::string(digits)};
}

}  // namespace tidepool::api
