// PUT of what operators set whole from a file (tenants, prices): dry run, If-Match, and the answer.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

struct SettingsPut {
  std::string what;                                       // "the tenants"
  nlohmann::json changes;                                 // from what is set to what is asked for
  nlohmann::json warnings;                                // a list of texts
  std::string etag;                                       // of what is set
  std::function<Status()> try_out;                        // why it would be refused now
  std::function<CommandBody(bool if_unchanged)> command;  // only in place of what is set now, if so
};

// Answers the call: 412 if If-Match names other settings and it repeats no call, what would change of a dry run, else
// what has changed once that is durable.
void put_settings(Rest& rest, Call call, const SettingsPut& put);

}  // namespace tidepool::live::http
