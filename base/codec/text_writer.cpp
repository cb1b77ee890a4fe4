#include "base/codec/text_writer.hpp"

namespace tidepool::codec {
namespace {

bool is_plain(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code >= 0x20 && code < 0x7f && c != '"' && c != '\\';
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    out += canonical_json(std::string(text));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

// Formats like the JSON library, so that both ways give the same bytes.
void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += canonical_json(encode_value(value));
    return;
  }
  constexpr double kPlainMost = 1e9;  // whole numbers below are written with all digits
  if (std::abs(value) < kPlainMost && value == std::trunc(value) && !(value == 0 && std::signbit(value))) {
    append_whole(out, static_cast<std::int64_t>(value));
    out += ".0";
    return;
  }
  std::array<char, 64> digits;  // NOLINT: to_chars sets the part that is read
  out.append(digits.data(), nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value));
}

void TextWriter::begin_field(const char* name) {
  field_begin_ = out_.size();
  out_ += ",\"";
  out_ += name;
  out_ += "\":";
}

void TextWriter::end_field(const char* name) {
  TP_CHECK(fields_ < kFieldsMost, "an object has a bounded number of fields");
  list_[fields_++] = {name, field_begin_, out_.size()};
  ++asked_;
}

void TextWriter::finish() {
  if (fields_ == 0) {
    out_ += "{}";
    return;
  }
  const auto by_name = [](const Field& one, const Field& other) {
    return std::string_view(one.name) < std::string_view(other.name);
  };
  const auto end = list_.begin() + static_cast<std::ptrdiff_t>(fields_);
  if (!std::is_sorted(list_.begin(), end, by_name)) {
    std::sort(list_.begin(), end, by_name);
    std::string sorted;
    sorted.reserve(out_.size() - begin_);
    for (auto field = list_.begin(); field != end; ++field) {
      sorted.append(out_, field->begin, field->end - field->begin);
    }
    out_.replace(begin_, std::string::npos, sorted);
  }
  out_[begin_] = '{';
  out_ += '}';
}

}  // namespace tidepool::codec
