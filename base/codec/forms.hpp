// Forms that a value can have in JSON. A form has decode(in, where, value), and encode(value) if the value is written
// differently than without a form. For a list or an optional the form applies to each element.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/codec/values.hpp"

namespace tidepool::codec {

// Whole numbers from low to high; the type of the value must be able to represent both.
struct Range {
  std::int64_t low;
  std::int64_t high;

  template <std::integral N>
  [[nodiscard]] Status decode(const nlohmann::json& in, const std::string& where, N& value) const {
    std::int64_t whole = 0;
    TP_TRY(codec::decode(in, where, whole));
    if (whole < low || whole > high) {
      return invalid_argument(where + " is " + std::to_string(whole) + "; it must lie between " + std::to_string(low) +
                              " and " + std::to_string(high));
    }
    value = static_cast<N>(whole);
    return ok_status();
  }
};

// Numbers from low to high. Values that are not finite are written as null.
struct Between {
  double low;
  double high;

  [[nodiscard]] static nlohmann::json encode(double value) { return value; }
  [[nodiscard]] Status decode(const nlohmann::json& in, const std::string& where, double& value) const {
    if (!in.is_number()) return wrong(where, "a number");
    value = in.get<double>();
    if (value >= low && value <= high) return ok_status();
    return invalid_argument(where + " is " + in.dump() + "; it must lie between " + nlohmann::json(low).dump() +
                            " and " + nlohmann::json(high).dump());
  }
};

// An id that must be present, never none.
struct Given {
  template <class Tag>
  [[nodiscard]] static Status decode(const nlohmann::json& in, const std::string& where, StrongId<Tag>& id) {
    return in.is_null() ? Status(invalid_argument(where + " is needed")) : codec::decode(in, where, id);
  }
};

// For a list, the form applies to each element.
template <class T, class Form>
nlohmann::json encode_as(const std::optional<T>& value, const Form& form);
template <class T, class Form>
nlohmann::json encode_as(const std::vector<T>& values, const Form& form);
template <class T, class Form>
nlohmann::json encode_as(const T& value, const Form& form) {
  if constexpr (requires { form.encode(value); }) {
    return form.encode(value);
  } else {
    static_assert(!requires(std::string& out) { form.append(out, value); }, "this form writes text only");
    return codec::encode(value);
  }
}
template <class T, class Form>
nlohmann::json encode_as(const std::optional<T>& value, const Form& form) {
  return value ? encode_as(*value, form) : nlohmann::json(nullptr);
}
template <class T, class Form>
nlohmann::json encode_as(const std::vector<T>& values, const Form& form) {
  auto out = nlohmann::json::array();
  for (const auto& value : values) out.push_back(encode_as(value, form));
  return out;
}
template <class T, class Form>
Status decode_as(const nlohmann::json& in, const std::string& where, T& value, const Form& form) {
  return form.decode(in, where, value);
}
template <class T, class Form>
Status decode_as(const nlohmann::json& in, const std::string& where, std::optional<T>& value, const Form& form) {
  return form.decode(in, where, value.emplace());
}
template <class T, class Form>
Status decode_as(const nlohmann::json& in, const std::string& where, std::vector<T>& values, const Form& form) {
  if (!in.is_array()) return wrong(where, "a list");
  values.clear();
  values.reserve(in.size());
  for (const auto& element : in) {
    TP_TRY(form.decode(element, where + "/" + std::to_string(values.size()), values.emplace_back()));
  }
  return ok_status();
}

template <class T>
void make_none(std::optional<T>& value) {
  value.reset();
}
template <std::integral N>
void make_none(N& value) {
  value = 0;
}
inline void make_none(double& value) {
  value = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tidepool::codec
