// Sentences about jobs that request nodes by labels or memory.
#include <algorithm>

#include "base/byte_size.hpp"
#include "core/words/placement_words.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core::reason {
namespace {

// "rack=r1 or r2" as "rack r1 or r2"
std::string without_equals(std::string labels) {
  std::replace(labels.begin(), labels.end(), '=', ' ');
  return labels;
}
std::string memory_of(const std::optional<std::int64_t>& bytes) {
  return bytes ? rounded_byte_size(*bytes) + " of memory per slot" : "";
}
// "matches rack=r1 and gives 64GiB of memory per slot"
std::string suits_text(int nodes, const std::string& labels, const std::optional<std::int64_t>& memory) {
  const std::string matches = labels.empty() ? "" : (nodes == 1 ? "matches " : "match ") + labels;
  const std::string gives = memory ? (nodes == 1 ? "gives " : "give ") + memory_of(memory) : "";
  return matches + (matches.empty() || gives.empty() ? "" : " and ") + gives;
}
// "has rack r1, gives 64GiB of memory per slot and has slots of a type that it asks for", of no node
std::string lacking_text(const NoNodeMatches& why) {
  std::string text = why.word.empty() ? "" : "has " + without_equals(why.word);
  if (why.memory) text += (text.empty() ? "gives " : " and gives ") + memory_of(why.memory);
  if (why.typed) text += std::string(why.memory ? " and has" : " and") + " slots of a type that it asks for";
  return text;
}
std::string holders_of(const WaitingForNodes& why) {
  if (!why.holder) return "";
  std::string text = " held by " + why.holder.text();
  if (why.holders == 2) return text + " and " + why.holder_after.text();
  const int others = why.holders - 2;
  if (others > 0) text += ", " + why.holder_after.text() + " and " + counted(others, "other job");
  return text;
}

}  // namespace

std::string text_of(const NoNodeMatches& why) {
  if (why.nodes == 0) return "cannot start: no node that is up " + lacking_text(why);
  return "cannot start: it needs " + counted(why.needed, "slot") + ", and the " + counted(why.nodes, "node") +
         " that " + suits_text(why.nodes, why.word, why.memory) + (why.nodes == 1 ? " has" : " have") + " room for " +
         grouped(why.cluster);
}
std::string text_of(const WaitingForNodes& why) {
  std::string text = "waits for " + counted(why.needed, "slot") + ": " + counted(why.nodes, "node") + " " +
                     suits_text(why.nodes, why.word, why.memory) + ", and ";
  const std::string theirs = std::string(why.nodes == 1 ? "its " : "their ") + counted(why.slots, "slot");
  if (why.free > 0) {
    text += grouped(why.free) + " of " + theirs + (why.free == 1 ? " is free" : " are free") +
            (why.free >= why.needed ? ", but scattered or kept for others" : "");
    if (why.holder) text += "; the others are" + holders_of(why);
  } else {
    const std::string all = why.slots == 2 ? "both of " : why.slots == 1 ? "" : "all " + grouped(why.slots) + " of ";
    text += all + (why.nodes == 1 ? "its slot" : "their slot") + (why.slots == 1 ? " is" : "s are") + holders_of(why);
  }
  if (why.movers == 0) return text;
  return text + "; " + counted(why.movers, "worker") + " that may be elsewhere " +
         (why.movers == 1 ? "moves" : "move") +
         " when there is room elsewhere and waiting has cost as much as moving: " + decimal(why.cost_s) +
         " slot-seconds";
}

}  // namespace tidepool::core::reason
