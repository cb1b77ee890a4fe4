// Slot types for which the requests of tenants' jobs exceed the supply, and which tenant leaves its part of a type to
// the others because none of its gangs fits into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/tenants/type_division.hpp"

namespace tidepool::core {

// Types of which some tenant has less than its jobs request; ascending. `parts`: from divide_types() for these
// requests.
[[nodiscard]] std::vector<int> scarce_types(const std::vector<TypeAsk>& asks, const std::vector<SlotsByType>& parts);

// Slots requested by one leaf, in sets with any of these types.
[[nodiscard]] std::int64_t slots_asked(const std::vector<TypeAsk>& asks, std::size_t leaf,
                                       const std::vector<int>& types);

struct TypeUse {
  const std::vector<int>& scarce;
  const std::vector<SlotsByType>& parts;  // by node, as divided
  const std::vector<TypeAsk>& asked;      // the requests for which they were divided
  const std::vector<TypeAsk>& taken;      // used within these parts
  const std::vector<TypeAsk>& given;      // by the newest plan
};
// Of the leaves that use less of their part than they requested, the one with the smallest part; among equal parts the
// one that is given least, then the last in the tree. None: all use their parts.
[[nodiscard]] std::optional<std::size_t> first_to_leave(const TypeUse& use);

}  // namespace tidepool::core
