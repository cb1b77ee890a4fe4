// One description of a struct's fields serves both directions: fields(archive, value) names each field
// once, a Writer puts them into JSON and a Reader takes them out. What is written is therefore what is
// read; a field too many or too few is an error. Private to the core's codecs.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/result.hpp"
#include "base/shared_value.hpp"
#include "base/time.hpp"
#include "core/codec/sparse.hpp"

namespace tidepool::core::codec {

// fields(archive, Like<X> auto& value) takes a const X to write and an X to read.
template <class T, class U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

// The texts of an enum, by an overload of names_of(E) beside the enum's fields().
template <class E>
struct EnumName {
  E value;
  const char* name;
};

class Writer {
 public:
  explicit Writer(nlohmann::json& out) : out_(out) {}
  template <class T>
  void operator()(const char* name, const T& value);

 private:
  nlohmann::json& out_;
};

class Reader {
 public:
  // `where` is a JSON pointer for messages. Sparse: a field that is not there stays as it is.
  Reader(const nlohmann::json& in, std::string where, bool sparse = false)
      : in_(in), where_(std::move(where)), sparse_(sparse) {
    if (!in_.is_object()) fail("", "must be an object");
  }
  template <class T>
  void operator()(const char* name, T& value);

  void fail(const std::string& field, const std::string& what) {
    if (!error_) error_ = invalid_argument(where_ + (field.empty() ? "" : "/" + field) + " " + what);
  }
  // After all fields have been asked for: reports the first finding, or a field that was not asked for.
  [[nodiscard]] Status finish() {
    if (!error_ && in_.size() != asked_) fail("", "has a field that this version does not know");
    if (error_) return *error_;
    return ok_status();
  }

 private:
  const nlohmann::json& in_;
  std::string where_;
  bool sparse_;
  std::size_t asked_ = 0;
  std::optional<Error> error_;
};

template <class T>
[[nodiscard]] nlohmann::json encode(const T& value);
template <class T>
[[nodiscard]] Status decode(const nlohmann::json& in, const std::string& where, T& value);

inline Status wrong(const std::string& where, const char* wanted) {
  return invalid_argument(where + " must be " + wanted);
}

// --- leaves -------------------------------------------------------------------------------------

inline nlohmann::json encode_value(bool value) {
  return value;
}
inline nlohmann::json encode_value(const std::string& value) {
  return value;
}
template <std::integral N>
nlohmann::json encode_value(N value) {
  return value;
}
// JSON has no infinities, and a diverging loss must not make the journal unreadable.
inline nlohmann::json encode_value(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}
template <class Tag>
nlohmann::json encode_value(StrongId<Tag> id) {
  return id ? nlohmann::json(id.text()) : nlohmann::json(nullptr);
}
inline nlohmann::json encode_value(Instant value) {
  return value.count_us();
}
inline nlohmann::json encode_value(Duration value) {
  return value.count_us();
}
inline nlohmann::json encode_value(Money value) {
  return value.count_micros();
}

inline Status decode_value(const nlohmann::json& in, const std::string& where, bool& value) {
  if (!in.is_boolean()) return wrong(where, "true or false");
  value = in.get<bool>();
  return ok_status();
}
inline Status decode_value(const nlohmann::json& in, const std::string& where, std::string& value) {
  if (!in.is_string()) return wrong(where, "a text");
  value = in.get_ref<const std::string&>();
  return ok_status();
}
template <std::integral N>
Status decode_value(const nlohmann::json& in, const std::string& where, N& value) {
  if (!in.is_number_integer()) return wrong(where, "a whole number");
  const bool fits =
      in.is_number_unsigned() ? std::in_range<N>(in.get<std::uint64_t>()) : std::in_range<N>(in.get<std::int64_t>());
  if (!fits) return wrong(where, "a whole number in range");
  value = in.is_number_unsigned() ? static_cast<N>(in.get<std::uint64_t>()) : static_cast<N>(in.get<std::int64_t>());
  return ok_status();
}
inline Status decode_value(const nlohmann::json& in, const std::string& where, double& value) {
  if (in == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (in == "inf" || in == "-inf") {
    value = in == "inf" ? HUGE_VAL : -HUGE_VAL;
  } else if (in.is_number()) {
    value = in.get<double>();
  } else {
    return wrong(where, "a number");
  }
  return ok_status();
}
template <class Tag>
Status decode_value(const nlohmann::json& in, const std::string& where, StrongId<Tag>& id) {
  id = StrongId<Tag>();
  if (in.is_null()) return ok_status();
  const auto parsed =
      in.is_string() ? StrongId<Tag>::parse(in.get_ref<const std::string&>()) : std::optional<StrongId<Tag>>();
  if (!parsed) return invalid_argument(where + " must be an id such as " + Tag::kPrefix + "-1");
  id = *parsed;
  return ok_status();
}
inline Status decode_value(const nlohmann::json& in, const std::string& where, Instant& value) {
  std::int64_t us = 0;
  TP_TRY(decode_value(in, where, us));
  value = Instant::from_micros(us);
  return ok_status();
}
inline Status decode_value(const nlohmann::json& in, const std::string& where, Duration& value) {
  std::int64_t us = 0;
  TP_TRY(decode_value(in, where, us));
  value = Duration::micros(us);
  return ok_status();
}
inline Status decode_value(const nlohmann::json& in, const std::string& where, Money& value) {
  std::int64_t micros = 0;
  TP_TRY(decode_value(in, where, micros));
  value = Money::micros(micros);
  return ok_status();
}

// --- enums, containers, structs -----------------------------------------------------------------

template <class E>
  requires std::is_enum_v<E>
nlohmann::json encode_value(E value) {
  for (const auto& entry : names_of(E{})) {
    if (entry.value == value) return entry.name;
  }
  return nullptr;
}
template <class E>
  requires std::is_enum_v<E>
Status decode_value(const nlohmann::json& in, const std::string& where, E& value) {
  for (const auto& entry : names_of(E{})) {
    if (in != entry.name) continue;
    value = entry.value;
    return ok_status();
  }
  return wrong(where, "one of the known words");
}

template <class T>
nlohmann::json encode_value(const std::optional<T>& value) {
  return value ? encode(*value) : nlohmann::json(nullptr);
}
template <class T>
Status decode_value(const nlohmann::json& in, const std::string& where, std::optional<T>& value) {
  value.reset();
  if (in.is_null()) return ok_status();
  return decode(in, where, value.emplace());
}

template <class T>
nlohmann::json encode_value(const std::vector<T>& values) {
  auto out = nlohmann::json::array();
  for (const auto& value : values) out.push_back(encode(value));
  return out;
}
template <class T>
Status decode_value(const nlohmann::json& in, const std::string& where, std::vector<T>& values) {
  if (!in.is_array()) return wrong(where, "a list");
  values.clear();
  values.reserve(in.size());
  for (const auto& element : in) {
    TP_TRY(decode(element, where + "/" + std::to_string(values.size()), values.emplace_back()));
  }
  return ok_status();
}

// A map with keys of its own is a list of pairs, so that keys stay numbers.
template <class K, class V>
nlohmann::json encode_value(const std::map<K, V>& values) {
  auto out = nlohmann::json::array();
  for (const auto& [key, value] : values) out.push_back(nlohmann::json::array({encode(key), encode(value)}));
  return out;
}
template <class K, class V>
Status decode_value(const nlohmann::json& in, const std::string& where, std::map<K, V>& values) {
  if (!in.is_array()) return wrong(where, "a list of pairs");
  values.clear();
  for (const auto& element : in) {
    if (!element.is_array() || element.size() != 2) return wrong(where, "a list of pairs");
    K key{};
    TP_TRY(decode(element[0], where, key));
    if (values.contains(key)) return wrong(where, "a list of pairs with different keys");
    TP_TRY(decode(element[1], where + "/" + std::to_string(values.size()), values[key]));
  }
  return ok_status();
}

// One with names as keys is an object.
template <class V>
nlohmann::json encode_value(const std::map<std::string, V>& values) {
  auto out = nlohmann::json::object();
  for (const auto& [name, value] : values) out[name] = encode(value);
  return out;
}
template <class V>
Status decode_value(const nlohmann::json& in, const std::string& where, std::map<std::string, V>& values) {
  if (!in.is_object()) return wrong(where, "an object");
  values.clear();
  for (const auto& [name, element] : in.items()) TP_TRY(decode(element, where + "/" + name, values[name]));
  return ok_status();
}

template <class T>
nlohmann::json encode_value(const SharedValue<T>& value) {
  return encode(*value);
}
template <class T>
Status decode_value(const nlohmann::json& in, const std::string& where, SharedValue<T>& value) {
  T plain{};
  TP_TRY(decode(in, where, plain));
  value = std::move(plain);
  return ok_status();
}

template <class T>
concept Described = requires(Writer& writer, const T& value) { fields(writer, value); };

template <Described T>
nlohmann::json encode_value(const T& value) {
  auto out = nlohmann::json::object();
  Writer writer(out);
  fields(writer, value);
  return out;
}
template <Described T>
Status decode_value(const nlohmann::json& in, const std::string& where, T& value) {
  Reader reader(in, where);
  fields(reader, value);
  return reader.finish();
}

template <class T>
nlohmann::json encode(const T& value) {
  return encode_value(value);
}
template <class T>
Status decode(const nlohmann::json& in, const std::string& where, T& value) {
  return decode_value(in, where, value);
}

// What append_as_row() (text_writer.hpp) has written of a T, into a blank one.
template <class T>
Status decode_sparse(const nlohmann::json& in, const std::string& where, T& value) {
  if constexpr (Described<T>) {
    Reader reader(in, where, true);
    fields(reader, value);
    return reader.finish();
  } else {
    if (!in.is_object()) return decode(in, where, value);
    nlohmann::json whole = in;
    fill_in(whole, encode(T{}));
    return decode(whole, where, value);
  }
}

template <class T>
Status decode_sparse(const nlohmann::json& in, const std::string& where, SharedValue<T>& value) {
  T plain{};
  TP_TRY(decode_sparse(in, where, plain));
  value = std::move(plain);
  return ok_status();
}

template <class T>
void Writer::operator()(const char* name, const T& value) {
  out_[name] = encode(value);
}
template <class T>
void Reader::operator()(const char* name, T& value) {
  if (error_ || (sparse_ && asked_ == in_.size())) return;
  const auto found = in_.find(name);
  if (found == in_.end()) {
    if (!sparse_) fail(name, "is missing");
    return;
  }
  ++asked_;
  const std::string where = where_ + "/" + name;
  if (Status status = sparse_ ? decode_sparse(*found, where, value) : decode(*found, where, value); !status) {
    error_ = status.error();
  }
}

}  // namespace tidepool::core::codec
