#include "core/tenants/scarce_types.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tidepool::core {
namespace {

std::int64_t part_of(const SlotsByType& part, const std::vector<int>& types) {
  std::int64_t slots = 0;
  for (const int type : types) slots += part[static_cast<std::size_t>(type)];
  return slots;
}

}  // namespace

std::vector<int> scarce_types(const std::vector<TypeAsk>& asks, const std::vector<SlotsByType>& parts) {
  std::vector<const TypeAsk*> order;
  order.reserve(asks.size());
  for (const TypeAsk& ask : asks) order.push_back(&ask);
  std::sort(order.begin(), order.end(), [](const TypeAsk* a, const TypeAsk* b) {
    return std::tuple(a->types.size(), a->types, a->leaf) < std::tuple(b->types.size(), b->types, b->leaf);
  });
  std::map<std::size_t, SlotsByType> left;  // unused slots of each leaf's part
  std::set<int> scarce;
  for (const TypeAsk* ask : order) {
    SlotsByType& part = left.try_emplace(ask->leaf, parts[ask->leaf]).first->second;
    int lacks = ask->wanted;
    for (const int type : ask->types) {
      const int taken = std::min(lacks, part[static_cast<std::size_t>(type)]);
      part[static_cast<std::size_t>(type)] -= taken;
      lacks -= taken;
    }
    if (lacks > 0) scarce.insert(ask->types.begin(), ask->types.end());
  }
  return {scarce.begin(), scarce.end()};
}

std::int64_t slots_asked(const std::vector<TypeAsk>& asks, std::size_t leaf, const std::vector<int>& types) {
  std::int64_t slots = 0;
  for (const TypeAsk& ask : asks) {
    const bool holds_one = std::any_of(ask.types.begin(), ask.types.end(),
                                       [&](int type) { return std::binary_search(types.begin(), types.end(), type); });
    if (ask.leaf == leaf && holds_one) slots += ask.wanted;
  }
  return slots;
}

std::optional<std::size_t> first_to_leave(const TypeUse& use) {
  std::set<std::size_t> leaves;
  for (const TypeAsk& ask : use.asked) leaves.insert(ask.leaf);
  std::optional<std::tuple<std::int64_t, std::int64_t, std::int64_t>> first;
  for (const std::size_t leaf : leaves) {
    const std::int64_t part = part_of(use.parts[leaf], use.scarce);
    const std::int64_t takes = slots_asked(use.taken, leaf, use.scarce);
    if (takes >= std::min(part, slots_asked(use.asked, leaf, use.scarce))) continue;
    const std::tuple place(part, slots_asked(use.given, leaf, use.scarce), -static_cast<std::int64_t>(leaf));
    if (!first || place < *first) first = place;
  }
  return first ? std::optional(static_cast<std::size_t>(-std::get<2>(*first))) : std::nullopt;
}

}  // namespace tidepool::core
