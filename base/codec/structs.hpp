// Structs with fields() to JSON and back, and variants of such structs that have a type.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/codec/reader_writer.hpp"
#include "base/codec/values.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace tidepool::codec {

template <class T>
concept Described = requires(Writer& writer, const T& value) { fields(writer, value); };

template <Described T>
Status decode_fields(const nlohmann::json& in, const std::string& where, T& value, bool sparse) {
  Reader reader(in, where, sparse);
  fields(reader, value);
  if (reader.has_unknown()) {
    Names names;
    fields(names, std::as_const(value));
    reader.refuse_unknown(names.fields());
  }
  return reader.finish();
}

template <Described T>
nlohmann::json encode_value(const T& value) {
  auto out = nlohmann::json::object();
  Writer writer(out);
  fields(writer, value);
  return out;
}
template <Described T>
Status decode_value(const nlohmann::json& in, const std::string& where, T& value) {
  return decode_fields(in, where, value, false);
}

// --- variants of structs with a type --------------------------------------------------------------

template <class T>
struct Kinds;

// The type names that T may have: its own, or those of its alternatives.
template <class T>
const std::vector<std::string>& kinds_of() {
  static const std::vector<std::string> kinds = Kinds<T>::list();
  return kinds;
}
template <Described T>
struct Kinds<T> {
  static std::vector<std::string> list() {
    Names names;
    const T blank{};
    fields(names, blank);
    return {names.type()};
  }
};
template <class... Ts>
struct Kinds<std::variant<Ts...>> {
  static std::vector<std::string> list() {
    std::vector<std::string> all;
    (all.insert(all.end(), kinds_of<Ts>().begin(), kinds_of<Ts>().end()), ...);
    return all;
  }
};

template <class... Ts>
nlohmann::json encode_value(const std::variant<Ts...>& value) {
  return std::visit([](const auto& any) { return codec::encode(any); }, value);
}
template <class... Ts>
Status decode_value(const nlohmann::json& in, const std::string& where, std::variant<Ts...>& value) {
  if (!in.is_object() && !in.is_null()) return wrong(where, "an object");
  const auto found = in.is_null() ? in.end() : in.find("type");
  if (found == in.end()) return invalid_argument(where + "/type is needed");
  if (!found->is_string()) return wrong(where + "/type", "a text");
  const auto& type = found->template get_ref<const std::string&>();
  std::optional<Status> outcome;
  const auto try_one = [&]<class T>(T alternative) {
    const auto& kinds = kinds_of<T>();
    if (outcome || std::find(kinds.begin(), kinds.end(), type) == kinds.end()) return;
    outcome = codec::decode(in, where, alternative);
    value = std::move(alternative);
  };
  (try_one(Ts{}), ...);
  if (outcome) return *outcome;
  const auto meant = nearest_word(type, kinds_of<std::variant<Ts...>>());
  return invalid_argument(where + "/type \"" + type.substr(0, 40) + "\" is not known here" +
                          (meant ? "; did you mean \"" + *meant + "\"?" : ""));
}

// The entry points of all overloads of encode_value() and decode_value().
template <class T>
nlohmann::json encode(const T& value) {
  return encode_value(value);
}
template <class T>
Status decode(const nlohmann::json& in, const std::string& where, T& value) {
  return decode_value(in, where, value);
}

}  // namespace tidepool::codec
