#include "schedulerd/live/http/put_settings.hpp"

#include <utility>

#include "schedulerd/live/http/conditions.hpp"
#include "schedulerd/live/http/paging.hpp"

namespace tidepool::live::http {

using nlohmann::json;

void put_settings(Rest& rest, Call call, const SettingsPut& put) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  const bool is_bound = if_match_names_tags(call.request);
  if (!if_match_holds(call.request, put.etag)) {
    Problem changed{.status = 412,
                    .code = "Changed",
                    .detail = put.what + " have changed since they were read",
                    .hint = "look at the changes again (dry_run), and repeat with their etag"};
    if (!call.fail_unless_repeated(std::move(changed))) return;
  }
  json body = {{"dry_run", dry_run.value()}, {"changes", put.changes}, {"refused", nullptr},
               {"warnings", put.warnings},   {"etag", put.etag},       {"as_of_seq", call.seen->as_of_seq}};
  if (!dry_run.value()) {
    return rest.command(std::move(call), put.command(is_bound), [body](const Receipt& receipt, const Published&) {
      json answer = body;
      answer["as_of_seq"] = receipt.as_of_seq;
      return json_response(200, answer);
    });
  }
  if (const Status taken = put.try_out(); !taken.ok()) body["refused"] = taken.error().message;
  call.reply(200, body);
}

}  // namespace tidepool::live::http
