// Compiled in place of the dashboard where -DTIDEPOOL_WEBUI=OFF.
#include "webui/embedded.hpp"

namespace tidepool::webui {

std::span<const EmbeddedFile> files() {
  return {};
}

}  // namespace tidepool::webui
