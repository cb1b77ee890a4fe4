#include "workers/agent/node_identity.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/files/whole_file.hpp"
#include "base/json.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kOthers = "other_ca_fingerprints";  // after the first

fs::path identity_file(const fs::path& state_dir) {
  return state_dir / "node-identity.json";
}
fs::path joining_file(const fs::path& state_dir) {
  return state_dir / "node-joining.json";
}

// None: the file does not exist.
Result<std::optional<json>> read_private(const fs::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::optional<json>();
    return errno_error("read " + file.string());
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return invalid_argument(file.string() + " holds this node's key and others may read it; run: chmod 600 " +
                            file.string());
  }
  const auto text = read_whole_file(file);
  if (!text) return text.error();
  auto body = parse_json(*text);
  if (!body || !body->is_object()) {
    return invalid_argument(file.string() + " is damaged; remove it and join anew with a new token");
  }
  return std::optional<json>(*std::move(body));
}

}  // namespace

Result<std::optional<NodeIdentity>> read_identity(const fs::path& state_dir) {
  const auto body = read_private(identity_file(state_dir));
  if (!body) return body.error();
  if (!*body) return std::optional<NodeIdentity>();
  const json& kept = **body;
  NodeIdentity identity{.daemon = kept.value("daemon", ""),
                        .node = kept.value("node", ""),
                        .authorities = {kept.value("ca_fingerprint", "")},
                        .key = kept.value("key", ""),
                        .certificate = kept.value("certificate", "")};
  for (auto& other : kept.value(kOthers, std::vector<std::string>())) identity.authorities.push_back(std::move(other));
  return std::optional<NodeIdentity>(std::move(identity));
}

Status write_identity(const fs::path& state_dir, const NodeIdentity& identity) {
  const auto& known = identity.authorities;
  json body{{"daemon", identity.daemon},
            {"node", identity.node},
            {"ca_fingerprint", known.front()},
            {"key", identity.key},
            {"certificate", identity.certificate}};
  if (known.size() > 1) body[kOthers] = std::vector(known.begin() + 1, known.end());
  return replace_file(identity_file(state_dir), canonical_json(body) + "\n");
}

bool has_identity(const fs::path& state_dir) {
  std::error_code failed;
  return fs::exists(identity_file(state_dir), failed);
}

Result<std::string> key_to_join(const fs::path& state_dir, const std::string& token_id, const std::string& node) {
  const auto before = read_private(joining_file(state_dir));
  if (!before) return before.error();
  if (*before && (*before)->value("token", "") == token_id && (*before)->value("node", "") == node) {
    return (*before)->value("key", "");
  }
  auto key = tls::make_key();
  if (!key) return key;
  const json body{{"token", token_id}, {"node", node}, {"key", *key}};
  TP_TRY(replace_file(joining_file(state_dir), canonical_json(body) + "\n"));
  return key;
}

void forget_join(const fs::path& state_dir) {
  std::error_code failed;
  fs::remove(joining_file(state_dir), failed);
}

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Result<tls::Context> context_of(const NodeIdentity& identity) {
  const tls::Identity own{.chain = identity.certificate, .key = identity.key};
  return tls::client_context({.authorities = {}, .fingerprints = identity.authorities}, &own);
}

}  // namespace tidepool::agent
