// One line in the daemon's log for each request that may change something and has a valid token: who asked for what,
// and what came of it.
#pragma once

#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

[[nodiscard]] bool changes(const HttpRequest& request);
// Answers as the call's responder does, and writes the line with the answer.
[[nodiscard]] Responder audited(const Call& call);

}  // namespace tidepool::live::http
