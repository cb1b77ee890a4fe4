// The built dashboard as bytes in the program. They are constant and live as long as the program; a build
// without the dashboard has no files, and the daemon then says so at "/".
#pragma once

#include <span>
#include <string_view>

namespace tidepool::webui {

struct EmbeddedFile {
  std::string_view path;          // "/index.html", "/assets/index-1a2b.js": from the root of the server
  std::string_view content_type;  // "text/html; charset=utf-8"
  std::string_view bytes;
  std::string_view etag;  // with its quotes; the first 20 hex digits of the content's SHA-256
};

// In the order of their paths.
[[nodiscard]] std::span<const EmbeddedFile> files();

// What the page needs and no more: no inline script or style, nothing from another host.
inline constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace tidepool::webui
