// Enums are written as texts: an overload of names_of(E) in the enum's namespace defines them.
#pragma once

#include <optional>

namespace tidepool::codec {

template <class E>
struct EnumName {
  E value;
  const char* name;
};
// None: the value has no name and is written as null.
template <class E>
std::optional<const char*> enum_name(E value) {
  for (const auto& entry : names_of(value)) {
    if (entry.value == value) return entry.name;
  }
  return std::nullopt;
}

}  // namespace tidepool::codec
