// Values to JSON and back: texts, numbers, ids, times, enums, containers.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/codec/reader_writer.hpp"
#include "base/money.hpp"
#include "base/result.hpp"
#include "base/shared_map.hpp"
#include "base/shared_value.hpp"
#include "base/strong_id.hpp"
#include "base/time.hpp"
#include "base/word_list.hpp"

namespace tidepool::codec {

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
// JSON has no infinities or NaN, and a diverging loss must not make the journal unreadable.
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
  if (!in.is_string()) return wrong(where, "a text");
  const auto parsed = StrongId<Tag>::parse(in.get_ref<const std::string&>());
  if (!parsed) return invalid_argument(where + " must be an id such as \"" + StrongId<Tag>(3).text() + "\"");
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

// --- enums, containers --------------------------------------------------------------------------

template <class E>
  requires std::is_enum_v<E>
nlohmann::json encode_value(E value) {
  const auto name = enum_name(value);
  return name ? nlohmann::json(*name) : nlohmann::json(nullptr);
}
template <class E>
  requires std::is_enum_v<E>
Status decode_value(const nlohmann::json& in, const std::string& where, E& value) {
  for (const auto& entry : names_of(E{})) {
    if (in != entry.name) continue;
    value = entry.value;
    return ok_status();
  }
  const auto names = names_of(E{});
  return invalid_argument(where + " must be one of " + word_list(names, &EnumName<E>::name));
}

template <class T>
nlohmann::json encode_value(const std::optional<T>& value) {
  return value ? codec::encode(*value) : nlohmann::json(nullptr);
}
template <class T>
Status decode_value(const nlohmann::json& in, const std::string& where, std::optional<T>& value) {
  value.reset();
  if (in.is_null()) return ok_status();
  return codec::decode(in, where, value.emplace());
}

template <class T>
nlohmann::json encode_value(const std::vector<T>& values) {
  auto out = nlohmann::json::array();
  for (const auto& value : values) out.push_back(codec::encode(value));
  return out;
}
template <class T>
Status decode_value(const nlohmann::json& in, const std::string& where, std::vector<T>& values) {
  if (!in.is_array()) return wrong(where, "a list");
  values.clear();
  values.reserve(in.size());
  for (const auto& element : in) {
    TP_TRY(codec::decode(element, where + "/" + std::to_string(values.size()), values.emplace_back()));
  }
  return ok_status();
}

// A map whose keys are not names is a list of pairs, so that keys stay numbers.
template <class K, class V>
nlohmann::json encode_value(const std::map<K, V>& values) {
  auto out = nlohmann::json::array();
  for (const auto& [key, value] : values)
    out.push_back(nlohmann::json::array({codec::encode(key), codec::encode(value)}));
  return out;
}
template <class K, class V>
Status decode_value(const nlohmann::json& in, const std::string& where, std::map<K, V>& values) {
  if (!in.is_array()) return wrong(where, "a list of pairs");
  values.clear();
  for (const auto& element : in) {
    if (!element.is_array() || element.size() != 2) return wrong(where, "a list of pairs");
    K key{};
    TP_TRY(codec::decode(element[0], where, key));
    if (values.contains(key)) return wrong(where, "a list of pairs with different keys");
    TP_TRY(codec::decode(element[1], where + "/" + std::to_string(values.size()), values[key]));
  }
  return ok_status();
}

// A map with names as keys is an object.
template <class V>
nlohmann::json encode_value(const std::map<std::string, V>& values) {
  auto out = nlohmann::json::object();
  for (const auto& [name, value] : values) out[name] = codec::encode(value);
  return out;
}
template <class V>
Status decode_value(const nlohmann::json& in, const std::string& where, std::map<std::string, V>& values) {
  if (!in.is_object()) return wrong(where, "an object");
  values.clear();
  for (const auto& [name, element] : in.items()) {
    TP_TRY(codec::decode(element, std::string(where).append("/").append(name), values[name]));
  }
  return ok_status();
}

template <class K, class V>
nlohmann::json encode_value(const SharedMap<K, V>& values) {
  return codec::encode(std::map<K, V>(values.begin(), values.end()));
}
template <class K, class V>
Status decode_value(const nlohmann::json& in, const std::string& where, SharedMap<K, V>& values) {
  std::map<K, V> plain;
  TP_TRY(codec::decode(in, where, plain));
  values = {};
  for (auto& [key, value] : plain) values.emplace(key, std::move(value));
  return ok_status();
}

template <class T>
nlohmann::json encode_value(const SharedValue<T>& value) {
  return codec::encode(*value);
}
template <class T>
Status decode_value(const nlohmann::json& in, const std::string& where, SharedValue<T>& value) {
  T plain{};
  TP_TRY(codec::decode(in, where, plain));
  value = std::move(plain);
  return ok_status();
}

}  // namespace tidepool::codec
