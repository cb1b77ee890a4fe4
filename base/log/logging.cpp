#include "base/log/logging.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace tidepool {
namespace {

// The message itself, escaped.
class EscapedMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/, spdlog::memory_buf_t& into) override {
    const std::string text = escape_controls(std::string(message.payload.data(), message.payload.size()));
    into.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return spdlog::details::make_unique<EscapedMessage>();
  }
};

}  // namespace

std::string escape_controls(const std::string& text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      escaped += c;
    } else {
      escaped += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xfU]};
    }
  }
  return escaped;
}

void start_logging(const std::string& level, const LogStyle& style) {
  const auto time = style.colour ? spdlog::pattern_time_type::local : spdlog::pattern_time_type::utc;
  auto formatter = std::make_unique<spdlog::pattern_formatter>(time);
  formatter->add_flag<EscapedMessage>('*').set_pattern(style.pattern);
  auto logger = style.colour ? spdlog::stderr_color_mt(style.name) : spdlog::stderr_logger_mt(style.name);
  logger->set_formatter(std::move(formatter));
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace tidepool
