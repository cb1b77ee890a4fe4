#include "core/words/provision_words.hpp"

#include "core/words/wording.hpp"

namespace tidepool::core::reason {
namespace {

// "a node of 4 slots costs 4.8 an hour and joins in about 2 min"
std::string node(const OfNode& node) {
  return "a node of " + counted(node.slots, "slot") + " costs " + decimal(node.price.to_units() * node.slots) +
         " an hour and joins in about " + waiting_time(node.lead.to_seconds());
}

// "; 1 node that came earlier is kept until then"
std::string kept_text(const std::optional<int>& nodes) {
  if (!nodes) return "";
  return "; " + counted(*nodes, "node") + " that came earlier " + (*nodes == 1 ? "is" : "are") + " kept until then";
}

std::string have_room(int room) {
  return room == 0 ? "have room for none" : "have room for " + grouped(room);
}

// "the pool has 2 nodes and the policy wants 3: SpareNode (spare 1)"
std::string wanted(const auto& why) {
  return "the pool has " + counted(why.nodes, "node") + " and the policy wants " + grouped(why.wanted) +
         (why.word.empty() ? "" : ": " + policy_words(why.word, why.numbers));
}

}  // namespace

std::string text_of(const NodeForGang& why) {
  const std::string how_many = why.nodes == 1 ? "one more node" : counted(why.nodes, "more node");
  return how_many + " for " + why.job.text() + ", which needs " + counted(why.needed, "slot") +
         ": present and coming nodes " + have_room(why.room) + "; " + node(why) + kept_text(why.kept);
}
std::string text_of(const NodeForGrowth& why) {
  return "one more node for " + why.job.text() + " to grow " + grouped(why.from) + " -> " + grouped(why.to) +
         ": each slot more would be used to " + percent(why.use) + ", which pays for it; " + node(why) +
         kept_text(why.kept);
}
std::string text_of(const NodeForMinimum& why) {
  return "one more node, because the pool has " + counted(why.nodes, "node") + " and must have at least " +
         grouped(why.min) + "; " + node(why);
}
std::string text_of(const NodeForPolicy& why) {
  return "one more node, because " + wanted(why) + "; " + node(why);
}
std::string text_of(const NodeBeyondPolicy& why) {
  if (!why.idle) return "emptied: " + wanted(why);
  return "given back: it has held nothing for " + waiting_time(why.idle->to_seconds()) + ", and " + wanted(why);
}
std::string text_of(const NodeIdle& why) {
  return "given back: it has held nothing for " + waiting_time(why.idle.to_seconds()) + " and costs " +
         decimal(why.price.to_units() * why.slots) + " an hour; the pool keeps " + counted(why.left, "node");
}
std::string text_of(const NodeNotWorth& why) {
  return "emptied: without it jobs lose less than the " + decimal(why.price.to_units()) +
         " an hour that each of its slots costs";
}
std::string text_of(const NodeEmptied&) {
  return "given back: all its workers have left it";
}
std::string text_of(const NodeNeverJoined& why) {
  return "given back: no agent has joined from it within " + waiting_time(why.waited.to_seconds());
}
std::string text_of(const NodeAway& why) {
  return "given back: its agent has been away for " + waiting_time(why.away.to_seconds());
}
std::string text_of(const NodeLifetimeEnds& why) {
  return "emptied: its provider ends it in " + waiting_time(why.left.to_seconds());
}
std::string text_of(const NodeSurplus& why) {
  return "emptied: the pool has " + counted(why.nodes, "node") + " and may have " + grouped(why.max);
}

}  // namespace tidepool::core::reason
