#include "schedulerd/live/store/node_trust_rows.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/money.hpp"

namespace tidepool::live {
namespace {

using leader::NodeCredential;
using leader::NodeTerms;
using leader::NodeToken;
using nlohmann::json;

constexpr const char* kTables = R"sql(
CREATE TABLE IF NOT EXISTS node_tokens(
  id TEXT PRIMARY KEY, secret_sha256 TEXT NOT NULL, uses_max INTEGER NOT NULL, uses INTEGER NOT NULL,
  name_prefix TEXT NOT NULL, terms TEXT NOT NULL, created_us INTEGER NOT NULL, expires_us INTEGER NOT NULL,
  created_by TEXT NOT NULL, revoked INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS node_credentials(
  node TEXT PRIMARY KEY, key_sha256 TEXT NOT NULL, token TEXT NOT NULL, terms TEXT NOT NULL,
  joined_us INTEGER NOT NULL, valid_until_us INTEGER NOT NULL, revoked_us INTEGER,
  reason TEXT NOT NULL) WITHOUT ROWID;
)sql";

std::string text_of(const NodeTerms& terms) {
  json body{{"labels", terms.labels}, {"slot_type", terms.slot_type}};
  if (terms.price_per_slot_hour) body["price_per_slot_hour"] = to_text(*terms.price_per_slot_hour);
  return canonical_json(body);
}

// Our own rows: what cannot be read of them is left out.
NodeTerms terms_in(const std::string& text) {
  NodeTerms terms;
  const auto body = parse_json(text);
  if (!body.ok() || !body->is_object()) return terms;
  terms.labels = body->value("labels", std::map<std::string, std::string>());
  terms.slot_type = body->value("slot_type", "");
  if (const auto price = parse_money(body->value("price_per_slot_hour", "")); price.ok()) {
    terms.price_per_slot_hour = *price;
  }
  return terms;
}

NodeToken node_token_at(const Row& row) {
  return {.id = row.text(0),
          .secret_sha256 = row.text(1),
          .uses_max = row.integer(2),
          .uses = row.integer(3),
          .name_prefix = row.text(4),
          .terms = terms_in(row.text(5)),
          .created_at = Instant::from_micros(row.integer(6)),
          .expires_at = Instant::from_micros(row.integer(7)),
          .created_by = row.text(8),
          .revoked = row.integer(9) != 0};
}

NodeCredential credential_at(const Row& row) {
  NodeCredential credential{.node = row.text(0),
                            .key_sha256 = row.text(1),
                            .token_id = row.text(2),
                            .terms = terms_in(row.text(3)),
                            .joined_at = Instant::from_micros(row.integer(4)),
                            .valid_until = Instant::from_micros(row.integer(5)),
                            .revoked_at = {},
                            .revoke_reason = row.text(7)};
  if (const auto revoked = row.maybe_integer(6)) credential.revoked_at = Instant::from_micros(*revoked);
  return credential;
}

}  // namespace

Status NodeTrustRows::make_tables(Database& database) {
  return database.execute(kTables);
}

Status NodeTrustRows::prepare(Database& database) {
  const std::pair<Statement*, const char*> texts[] = {
      {&tokens_,
       "SELECT id,secret_sha256,uses_max,uses,name_prefix,terms,created_us,expires_us,created_by,"
       "revoked FROM node_tokens WHERE ?1='' OR id=?1 ORDER BY created_us,id"},
      {&credentials_,
       "SELECT node,key_sha256,token,terms,joined_us,valid_until_us,revoked_us,reason "
       "FROM node_credentials WHERE ?1='' OR node=?1 ORDER BY node"},
  };
  return database.prepare_all(texts);
}

Status NodeTrustRows::prepare_writing(Database& database) {
  TP_TRY(prepare(database));
  const std::pair<Statement*, const char*> texts[] = {
      {&put_token_, "INSERT OR REPLACE INTO node_tokens VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)"},
      {&put_credential_, "INSERT OR REPLACE INTO node_credentials VALUES(?1,?2,?3,?4,?5,?6,?7,?8)"},
  };
  return database.prepare_all(texts);
}

Status NodeTrustRows::put(const NodeToken& token) {
  return put_token_.run(token.id, token.secret_sha256, token.uses_max, token.uses, token.name_prefix,
                        text_of(token.terms), token.created_at.count_us(), token.expires_at.count_us(),
                        token.created_by, token.revoked);
}

Status NodeTrustRows::put(const NodeCredential& credential) {
  std::optional<std::int64_t> revoked;
  if (credential.revoked_at) revoked = credential.revoked_at->count_us();
  return put_credential_.run(credential.node, credential.key_sha256, credential.token_id, text_of(credential.terms),
                             credential.joined_at.count_us(), credential.valid_until.count_us(), revoked,
                             credential.revoke_reason);
}

Result<std::vector<NodeToken>> NodeTrustRows::tokens(const std::string& id) {
  std::vector<NodeToken> found;
  TP_TRY(tokens_.each([&](const Row& row) { found.push_back(node_token_at(row)); }, id));
  return found;
}

Result<std::vector<NodeCredential>> NodeTrustRows::credentials(const std::string& node) {
  std::vector<NodeCredential> found;
  TP_TRY(credentials_.each([&](const Row& row) { found.push_back(credential_at(row)); }, node));
  return found;
}

}  // namespace tidepool::live
