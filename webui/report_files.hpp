// The parts of a comparison's report as bytes in the program: /report.js and /report.css. They are constant and live as
// long as the program; a build without the dashboard has none.
#pragma once

#include <span>

#include "webui/embedded.hpp"

namespace tidepool::webui {

[[nodiscard]] std::span<const EmbeddedFile> report_files();

}  // namespace tidepool::webui
