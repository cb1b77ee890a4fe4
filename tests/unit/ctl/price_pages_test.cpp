#include "schedctl/prices/price_pages.hpp"

#include "schedctl/settings/changes_text.hpp"
#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {

using nlohmann::json;

TEST_CASE("prices are a row for each entry, with what holds now beside the first of its rule") {
  json prices = example("prices.json");
  const std::string text = prices_table(prices, {.width = 140});
  INFO(text);
  CHECK(
      text ==
      "RULE  SLOTS     NOW  CHANGES (UTC)        SPOT   NODES  PRICES AN HOUR\n"
      "h100  H100     2.50  2026-12-01 00:00:00  -60 %      4  2.50\n"
      "                                                        2.80 from 2026-12-01T00:00:00Z, 1.90 in 22-06, 2.10 in "
      "00-24 sat sun\n"
      "rest  zone=eu     -  2027-01-01 00:00:00  -          0  0.50 from 2027-01-01T00:00:00Z\n");
  prices["warnings"] = {"rule rest names the pool slow"};
  CHECK(prices_table(prices, {}).ends_with("\nwarning: rule rest names the pool slow\n"));
  CHECK(widest_line(prices_table(prices, {.width = 100})) <= 100);
  prices["rules"] = json::array();
  CHECK(prices_table(prices, {}).find("schedctl prices apply FILE") != std::string::npos);
}

TEST_CASE("the file of prices says no more than it must") {
  CHECK(prices_document(example("prices.json"), "").dump() ==
        R"({"rules":[{"name":"h100","slot_type":"H100","spot_discount":60,"entries":[{"price":"2.50"},)"
        R"({"from":"2026-12-01T00:00:00Z","price":"2.80","schedule":[{"hours":"22-06","price":"1.90"},)"
        R"({"days":["sat","sun"],"price":"2.10"}]}]},)"
        R"({"name":"rest","labels":{"zone":"eu"},"entries":[{"from":"2027-01-01T00:00:00Z","price":"0.50"}]}]})");
}

TEST_CASE("changes of prices are a line each") {
  const std::string text = changes_text("rule", example("price_changes.json"), {.width = 140});
  INFO(text);
  CHECK(text ==
        "- old\n"
        "~ h100: entries [2.50] -> [2.50, 2.80 from 2026-12-01T00:00:00Z, 1.90 in 22-06]\n"
        "+ rest: entries [0.50]\n"
        "warning: rule rest names the pool slow, which the daemon does not have\n");
}

}  // namespace tidepool::ctl
