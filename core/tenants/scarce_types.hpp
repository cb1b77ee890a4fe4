// Types of slot of which the jobs of tenants ask for more than there is, and which tenant leaves its part of one to the
// others because none of its gangs fits into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/tenants/type_division.hpp"

namespace tidepool::core {

// Those of which some tenant has less than its jobs ask for; ascending. `parts`: by divide_types() of these asks.
[[nodiscard]] std::vector<int> scarce_types(const std::vector<TypeAsk>& asks, const std::vector<SlotsByType>& parts);

// By one leaf, in sets that hold some of these types.
[[nodiscard]] std::int64_t slots_asked(const std::vector<TypeAsk>& asks, std::size_t leaf,
                                       const std::vector<int>& types);

struct TypeUse {
  const std::vector<int>& scarce;
  const std::vector<SlotsByType>& parts;  // by node, as divided
  const std::vector<TypeAsk>& asked;      // that they were divided for
  const std::vector<TypeAsk>& taken;      // within these parts
  const std::vector<TypeAsk>& given;      // by the newest plan
};
// Of leaves that take less of their part than they asked for, the one with the smallest part; of parts alike the one to
// which least is given, then the last in the tree. None: all take their parts.
[[nodiscard]] std::optional<std::size_t> first_to_leave(const TypeUse& use);

}  // namespace tidepool::core
