// The archives that fields() is called with: Writer, Reader and Names. Their members are defined in archive.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/codec/enum_names.hpp"
#include "base/result.hpp"

namespace tidepool::codec {

// fields(archive, Like<X> auto& value) accepts a const X for writing and an X for reading.
template <class T, class U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

// Common part of archives that only read a value; each has operator() for (name, value) and for (name, value, form).
template <class Archive>
class FieldsOut {
 public:
  // A field that may be missing or null, and is then none, 0, or NaN for floating point.
  void optional(const char* name, const auto& value, const auto& form) { archive()(name, value, form); }
  // The same, but left out if there is no value.
  template <class T>
  void if_any(const char* name, const std::optional<T>& value, const auto& form) {
    if (value) archive()(name, *value, form);
  }
  void constant(const char* name, int value) { archive()(name, value); }
  // A condition that several fields must satisfy together.
  void check(bool, const char*, const char*) {}

 private:
  friend Archive;
  FieldsOut() = default;
  Archive& archive() { return static_cast<Archive&>(*this); }
};

class Writer : public FieldsOut<Writer> {
 public:
  explicit Writer(nlohmann::json& out) : out_(out) {}
  // The struct's name among the alternatives of its variant.
  void type(const char* name) { out_["type"] = name; }
  template <class T>
  void operator()(const char* name, const T& value);
  template <class T, class Form>
  void operator()(const char* name, const T& value, const Form& form);

 private:
  nlohmann::json& out_;
};

class Reader {
 public:
  // `where` is a JSON pointer for messages. Sparse: a missing field keeps its value.
  Reader(const nlohmann::json& in, std::string where, bool sparse = false)
      : in_(in), where_(std::move(where)), sparse_(sparse) {
    if (!in_.is_object()) fail("", "must be an object");
  }
  void type(const char* name);
  template <class T>
  void operator()(const char* name, T& value);
  template <class T, class Form>
  void operator()(const char* name, T& value, const Form& form);
  template <class T, class Form>
  void optional(const char* name, T& value, const Form& form);
  template <class T, class Form>
  void if_any(const char* name, std::optional<T>& value, const Form& form) {
    optional(name, value, form);
  }
  void constant(const char* name, int value);
  void check(bool holds, const char* name, const char* what) {
    if (!error_ && !holds) fail(name, what);
  }

  void fail(const std::string& field, const std::string& what) {
    if (!error_) error_ = invalid_argument(where_ + (field.empty() ? "" : "/" + field) + " " + what);
  }
  // Call after all fields have been read: whether there is another one.
  [[nodiscard]] bool has_unknown() const { return !error_ && in_.size() != asked_; }
  void refuse_unknown(const std::vector<std::string>& known);
  [[nodiscard]] Status finish() const { return error_ ? Status(*error_) : ok_status(); }

 private:
  // Returns the field and counts it as read; null: there is none, or there was an error before.
  [[nodiscard]] const nlohmann::json* take(const char* name);
  void keep(const Status& status) {
    if (!status) error_ = status.error();
  }
  [[nodiscard]] std::string at(const char* name) const { return where_ + "/" + name; }

  const nlohmann::json& in_;
  std::string where_;
  bool sparse_;
  std::size_t asked_ = 0;
  std::optional<Error> error_;
};

// The name of a struct and the names of its fields.
class Names : public FieldsOut<Names> {
 public:
  void type(const char* name) {
    type_ = name;
    fields_.emplace_back("type");
  }
  void operator()(const char* name, const auto&...) { fields_.emplace_back(name); }
  // Includes fields that a blank value leaves out.
  void if_any(const char* name, const auto&...) { fields_.emplace_back(name); }

  [[nodiscard]] const std::string& type() const { return type_; }
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }

 private:
  std::string type_;
  std::vector<std::string> fields_;
};

template <class T>
[[nodiscard]] nlohmann::json encode(const T& value);
template <class T>
[[nodiscard]] Status decode(const nlohmann::json& in, const std::string& where, T& value);

inline Status wrong(const std::string& where, const char* wanted) {
  return invalid_argument(where + " must be " + wanted);
}

}  // namespace tidepool::codec
