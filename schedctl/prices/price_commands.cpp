// Prices over time: the list, and its file.
#include <CLI/CLI.hpp>

#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/prices/price_pages.hpp"
#include "schedctl/settings/settings_commands.hpp"

namespace tidepool::ctl {
namespace {

int show_prices(Session& session) {
  const nlohmann::json prices = session.get("/v1/prices");
  session.print(prices, [&] { return prices_table(prices, session.style()); });
  return kExitOk;
}

}  // namespace

void add_price_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* prices = app.add_subcommand("prices", "Show what slots cost over time, or set it from a file");
  prices->require_subcommand(0, 1);
  prices->callback([prices, &chosen] {
    if (prices->get_subcommands().empty()) chosen.online = show_prices;
  });
  prices->add_subcommand("show", "Show the list of prices, and which apply now")->callback([&chosen] {
    chosen.online = show_prices;
  });
  add_settings_commands(
      *prices, {.command = "prices", .kind = "rule", .whole = "the whole list", .document = prices_document}, chosen);
}

}  // namespace tidepool::ctl
