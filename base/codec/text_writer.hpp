// Writes described values as canonical JSON text without building a tree: fields(archive, value) appends each field,
// and finish() puts an object's fields in the order of their names. The text equals canonical_json(encode(v)). With a
// blank value, fields whose text equals the blank's are left out, lists as a whole. O(length of the text), except for
// types that encode themselves as JSON.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/codec/archive.hpp"
#include "base/json.hpp"
#include "base/shared_map.hpp"
#include "base/shared_value.hpp"
#include "base/strong_id.hpp"

namespace tidepool::codec {

// The text of a blank value, by field in the order of its description.
struct BlankText {
  std::string text;
  std::vector<BlankText> fields;  // of a described value; else empty
};

template <class T>
void append(std::string& out, const T& value);
// False: the value equals the blank one, and nothing was appended.
template <class T>
bool append_sparse(std::string& out, const T& value, const BlankText& blank);

void append_quoted(std::string& out, std::string_view text);
void append_number(std::string& out, double value);

template <class T, class Form>
void append_as(std::string& out, const T& value, const Form& form);

// Writes one object.
class TextWriter : public FieldsOut<TextWriter> {
 public:
  explicit TextWriter(std::string& out, const BlankText* blank = nullptr)
      : out_(out), blank_(blank), begin_(out.size()) {}
  template <class T>
  void operator()(const char* name, const T& value) {
    begin_field(name);
    if (blank_ == nullptr) {
      append(out_, value);
    } else if (!append_sparse(out_, value, blank_->fields[asked_])) {
      out_.resize(field_begin_);
      ++asked_;
      return;
    }
    end_field(name);
  }
  // A field whose value write(text) appends.
  template <class Write>
  void with(const char* name, Write write) {
    begin_field(name);
    write(out_);
    end_field(name);
  }
  // As Writer::type (reader_writer.hpp).
  void type(const char* name) {
    with("type", [&](std::string& out) { append_quoted(out, name); });
  }
  template <class T, class Form>
  void operator()(const char* name, const T& value, const Form& form) {
    with(name, [&](std::string& out) { append_as(out, value, form); });
  }
  // Writes every later field, even if it equals the blank's.
  void write_all() { blank_ = nullptr; }
  [[nodiscard]] bool is_empty() const { return fields_ == 0; }
  // Call once, after all fields.
  void finish();

 private:
  struct Field {
    const char* name;
    std::size_t begin;  // start of ,"name":value
    std::size_t end;
  };
  static constexpr std::size_t kFieldsMost = 128;

  void begin_field(const char* name);
  void end_field(const char* name);

  std::string& out_;
  const BlankText* blank_;
  std::size_t begin_;
  std::size_t field_begin_ = 0;
  std::size_t asked_ = 0;
  std::array<Field, kFieldsMost> list_;  // NOLINT: the first fields_ entries are set
  std::size_t fields_ = 0;
};

// Collects the texts of a blank value's fields.
class BlankWriter {
 public:
  explicit BlankWriter(std::vector<BlankText>& out) : out_(out) {}
  template <class T>
  void operator()(const char*, const T& value);

 private:
  std::vector<BlankText>& out_;
};

template <class T>
struct IsShared : std::false_type {};
template <class T>
struct IsShared<SharedValue<T>> : std::true_type {};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <class K, class V>
struct IsMap<SharedMap<K, V>> : std::true_type {};
template <class T>
struct IsId : std::false_type {};
template <class Tag>
struct IsId<StrongId<Tag>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... Ts>
struct IsVariant<std::variant<Ts...>> : std::true_type {};
template <class T>
concept Flag = std::same_as<T, bool>;
template <class T>
concept Whole = std::integral<T> && !Flag<T>;
template <class T>
concept Named = std::is_enum_v<T> && requires(T value) { names_of(value); };
template <class T>
concept Micros = std::same_as<T, Instant> || std::same_as<T, Duration>;
template <class T>
concept TextDescribed = requires(TextWriter& writer, const T& value) { fields(writer, value); };

// Appends the elements through append(element), between brackets or braces.
template <class List, class Append>
void append_all(std::string& out, const List& list, const char* around, Append append) {
  out += around[0];
  for (const auto& element : list) {
    append(element);
    out += ',';
  }
  if (!list.empty()) out.pop_back();
  out += around[1];
}

// Appends the contents of an optional or a list through append_one(held).
template <class T, class Append>
void append_each(std::string& out, const std::optional<T>& value, Append append_one) {
  if (value) {
    append_one(*value);
  } else {
    out += "null";
  }
}
template <class T, class Append>
void append_each(std::string& out, const std::vector<T>& values, Append append_one) {
  append_all(out, values, "[]", append_one);
}
template <class T>
concept Holder = IsOptional<T>::value || IsList<T>::value;

// An object if the keys are names, else a list of pairs.
template <class Map>
void append_map(std::string& out, const Map& values) {
  constexpr bool kIsObject = std::same_as<typename Map::key_type, std::string>;
  append_all(out, values, kIsObject ? "{}" : "[]", [&](const auto& entry) {
    if (!kIsObject) out += '[';
    append(out, entry.first);
    out += kIsObject ? ':' : ',';
    append(out, entry.second);
    if (!kIsObject) out += ']';
  });
}

template <Whole N>
void append_whole(std::string& out, N value) {
  std::array<char, 24> digits;  // NOLINT: to_chars sets the part that is read
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

template <class T>
void append(std::string& out, const T& value) {
  if constexpr (Flag<T>) {
    out += value ? "true" : "false";
  } else if constexpr (Whole<T>) {
    append_whole(out, value);
  } else if constexpr (std::same_as<T, double>) {
    append_number(out, value);
  } else if constexpr (std::same_as<T, std::string>) {
    append_quoted(out, value);
  } else if constexpr (IsId<T>::value) {
    if (value) {
      append_quoted(out, value.text());
    } else {
      out += "null";
    }
  } else if constexpr (Micros<T>) {
    append_whole(out, value.count_us());
  } else if constexpr (std::same_as<T, Money>) {
    append_whole(out, value.count_micros());
  } else if constexpr (Holder<T>) {
    append_each(out, value, [&](const auto& held) { append(out, held); });
  } else if constexpr (IsMap<T>::value) {
    append_map(out, value);
  } else if constexpr (Named<T>) {
    append_each(out, enum_name(value), [&](const char* name) { append_quoted(out, name); });
  } else if constexpr (IsShared<T>::value) {
    append(out, *value);
  } else if constexpr (TextDescribed<T>) {
    TextWriter writer(out);
    fields(writer, value);
    writer.finish();
  } else if constexpr (requires { append_text(out, value); }) {
    append_text(out, value);
  } else if constexpr (IsVariant<T>::value) {
    std::visit([&](const auto& any) { append(out, any); }, value);
  } else {
    out += canonical_json(encode(value));
  }
}

// As encode_as() (forms.hpp). A form may write the text itself: append(out, value).
template <class T, class Form>
void append_as(std::string& out, const T& value, const Form& form) {
  if constexpr (Holder<T>) {
    append_each(out, value, [&](const auto& held) { append_as(out, held, form); });
  } else if constexpr (requires { form.append(out, value); }) {
    form.append(out, value);
  } else if constexpr (requires { form.encode(value); }) {
    out += canonical_json(form.encode(value));
  } else {
    append(out, value);
  }
}

template <class T>
bool append_sparse(std::string& out, const T& value, const BlankText& blank) {
  if constexpr (IsShared<T>::value) {
    return append_sparse(out, *value, blank);
  } else if constexpr (TextDescribed<T>) {
    TextWriter writer(out, &blank);
    fields(writer, value);
    if (writer.is_empty()) return false;
    writer.finish();
    return true;
  } else {
    const std::size_t begin = out.size();
    append(out, value);
    if (std::string_view(out).substr(begin) != blank.text) return true;
    out.resize(begin);
    return false;
  }
}

template <class T>
BlankText blank_text(const T& value) {
  BlankText blank;
  if constexpr (IsShared<T>::value) {
    return blank_text(*value);
  } else if constexpr (TextDescribed<T>) {
    BlankWriter writer(blank.fields);
    fields(writer, value);
  } else {
    append(blank.text, value);
  }
  return blank;
}

template <class T>
void BlankWriter::operator()(const char*, const T& value) {
  out_.push_back(blank_text(value));
}

// Compares with a T{}, as for rows of the journal and of the state.
template <class T>
void append_as_row(std::string& out, const T& value) {
  static const BlankText blank = blank_text(T{});
  if (!append_sparse(out, value, blank)) out += "{}";
}

}  // namespace tidepool::codec
