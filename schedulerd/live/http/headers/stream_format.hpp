// Which of the two forms of a stream of events the reader wants.
#pragma once

#include <string_view>

namespace tidepool::live::http {

// By its Accept header (RFC 9110, section 12.5.1): application/x-ndjson has the greater weight, or is named more
// closely at the same weight, or first. Else text/event-stream, also for a reader that takes neither.
[[nodiscard]] bool wants_ndjson(std::string_view accept);

}  // namespace tidepool::live::http
