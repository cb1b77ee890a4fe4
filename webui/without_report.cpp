// Compiled in place of the report's parts where -DTIDEPOOL_WEBUI=OFF, or where the dashboard is not built at all.
#include "webui/report_files.hpp"

namespace tidepool::webui {

std::span<const EmbeddedFile> report_files() {
  return {};
}

}  // namespace tidepool::webui
