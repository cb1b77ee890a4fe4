// Tokens: made here, shown once, stored as a hash. No caller grants more than its own token has.
#include <algorithm>

#include "api/node_label.hpp"
#include "base/json.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::size_t kSecretBytes = 32;
constexpr Duration kLifetimeMin = Duration::seconds(1);  // tokens expire by whole seconds

struct NewToken {
  leader::CreateToken command;
  std::vector<FieldError> errors;
};

// A name that was left empty by mistake must not make a token of all tenants.
std::string empty_tenant(const Caller& caller) {
  return "is empty; name a tenant, or leave the field out for " +
         (caller.tenant.empty() ? "a token of all tenants" : caller.tenant);
}

// A tenant that the tree lacks cannot have jobs, so a token of it would be of no use.
void check_tenant(ObjectReader& in, const std::string& tenant, const core::TenantTree& tree) {
  if (tenant.empty() || tree.empty() || tree.find(tenant) != nullptr) return;
  in.fail("tenant", "Invalid", "is \"" + tenant + "\", which is no tenant; `schedctl tenants` lists those there are");
}

// Not beyond the end of the caller's own token, which is its end where none is asked for.
void cap_lifetime(ObjectReader& in, const Caller& caller, std::int64_t unix_now, leader::CreateToken& token) {
  if (!caller.expires_unix_s) return;
  const Duration left = Duration::seconds(std::max<std::int64_t>(1, *caller.expires_unix_s - unix_now));
  if (token.lifetime && *token.lifetime > left) {
    in.fail("lifetime", "OutOfRange", "must be at most " + to_text(left) + ", as your own token expires then");
  }
  if (!token.lifetime) token.lifetime = left;
}

NewToken read_new_token(const json& body, const Caller& caller, const core::TenantTree& tree, std::int64_t unix_now) {
  NewToken token;
  ObjectReader in(body, "", token.errors);
  token.command.name = in.required_text("name");
  token.command.role = in.required_text("role");
  token.command.tenant = in.text("tenant", caller.tenant);
  const bool expires = in.raw("lifetime").is_string();
  const std::string lifetime = in.text("lifetime", "");
  in.finish();
  if (in.raw("name") == "") in.fail("name", "OutOfRange", "must say whose it is");
  if (token.command.name.size() > 100) in.fail("name", "OutOfRange", "must be at most 100 bytes");
  if (!api::is_printable(token.command.name)) {
    in.fail("name", "Invalid", "must be printable characters of ASCII");
  }
  if (!token.command.role.empty() && !parse_role(token.command.role)) {
    in.fail("role", "Invalid", "is \"" + token.command.role + "\"; it must be admin, submitter or viewer");
  }
  if (in.raw("tenant") == "") {
    in.fail("tenant", "Invalid", empty_tenant(caller));
  } else if (!caller.sees(token.command.tenant)) {
    in.fail("tenant", "Invalid",
            "must be " + caller.tenant + ", to which your own token is limited, or a tenant below it");
  } else {
    check_tenant(in, token.command.tenant, tree);
  }
  if (expires) {
    auto duration = parse_duration(lifetime);
    if (!duration) {
      in.fail("lifetime", "Invalid", "is no duration: " + duration.error().message);
    } else if (*duration < kLifetimeMin) {
      in.fail("lifetime", "OutOfRange", "must be at least 1s; without it the token does not expire");
    } else {
      token.command.lifetime = duration.value();
    }
  }
  cap_lifetime(in, caller, unix_now, token.command);
  return token;
}

Problem unknown_token(const std::string& id) {
  return {.status = 404,
          .code = "UnknownToken",
          .detail = "there is no token with the id " + id,
          .hint = "GET /v1/tokens lists them"};
}

}  // namespace

void list_tokens(Rest& rest, Call call) {
  const auto page = read_page(call, "tokens");
  if (!page) return call.fail(bad_parameter(page.error()));
  PageBuilder builder("tokens", page->limit);
  std::uint64_t place = 0;
  for (const auto& token : rest.service().history().tokens()) {
    if (!call.caller.sees(token.tenant) || ++place <= page->after.value_or(0)) continue;
    if (!builder.add(place, render_token(token, rest.options().unix_now()))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void show_own_token(Rest& rest, Call call) {
  const auto record = rest.service().history().token(call.caller.token_id);
  if (!record) return call.fail(unknown_token(call.caller.token_id));
  call.reply(200, render_token(*record, rest.options().unix_now()));
}

void create_token(Rest& rest, Call call) {
  auto body = parse_json(call.request.body);
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  NewToken token = read_new_token(body.value(), call.caller, *call.seen->state.tenants, rest.options().unix_now());
  if (!token.errors.empty()) {
    return call.fail({.status = 422,
                      .code = "InvalidToken",
                      .detail = "the token's description needs a change",
                      .hint = "nothing was stored",
                      .errors = std::move(token.errors)});
  }
  token.command.id = new_token().id;
  const std::string secret = random_hex(kSecretBytes);
  token.command.secret_sha256 = sha256_hex(secret);
  rest.command(std::move(call), token.command, [&rest, secret](const Receipt& receipt, const Published&) {
    const auto record = rest.service().history().token(receipt.token_id);
    json created = record ? render_token(*record, rest.options().unix_now()) : json{{"id", receipt.token_id}};
    // A repeated request finds the token of the first one, whose secret was not kept.
    created["token"] = receipt.replayed ? json(nullptr) : json("tp_" + receipt.token_id + "_" + secret);
    return json_response(201, created);
  });
}

void revoke_token(Rest& rest, Call call) {
  const std::string id = call.id;
  const auto record = rest.service().history().token(id);
  if (!record || !call.caller.sees(record->tenant)) return call.fail(unknown_token(id));
  const auto answer = [&rest, id](const Receipt&, const Published&) {
    rest.authenticator().forget_all();
    rest.streams().drop_token(id);
    const auto revoked = rest.service().history().token(id);
    return json_response(200, revoked ? render_token(*revoked, rest.options().unix_now()) : json{{"id", id}});
  };
  rest.command(std::move(call), leader::RevokeToken{id, rest.options().unix_now()}, answer);
}

}  // namespace tidepool::live::http
