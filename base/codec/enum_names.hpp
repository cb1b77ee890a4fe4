// Enums are written as texts: those of an enum are told by an overload of names_of(E) in its namespace.
#pragma once

#include <optional>

namespace tidepool::codec {

template <class E>
struct EnumName {
  E value;
  const char* name;
};
// None: a value that has no name, which is written as null.
template <class E>
std::optional<const char*> enum_name(E value) {
  for (const auto& entry : names_of(value)) {
    if (entry.value == value) return entry.name;
  }
  return std::nullopt;
}

}  // namespace tidepool::codec
