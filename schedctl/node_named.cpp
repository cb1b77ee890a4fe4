#include "schedctl/node_named.hpp"

#include <nlohmann/json.hpp>

#include "schedctl/failure.hpp"
#include "schedctl/words.hpp"

namespace tidepool::ctl {

std::string node_named(const nlohmann::json& nodes, const std::string& id_or_name) {
  std::string name_of_id;  // the name of the node that has it as its id
  std::string by_id;
  std::string by_name;
  for (const auto& node : nodes) {
    const std::string id = text_at(node, "/id");
    const std::string name = text_at(node, "/name");
    if (id == id_or_name) {
      by_id = id;
      name_of_id = name;
    }
    if (name == id_or_name) by_name = id;
  }
  if (by_id.empty() || by_name.empty() || by_id == by_name) return by_id.empty() ? by_name : by_id;
  const std::string shown = printable(id_or_name);
  fail(kExitUsage, shown + " is the id of the node " + printable(name_of_id) + " and the name of the node " + by_name +
                       "; say " + printable(name_of_id) + " for the first, " + by_name + " for the second");
}

}  // namespace tidepool::ctl
