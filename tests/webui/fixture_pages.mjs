// Tabs on the built dashboard before a fixture server, for a file of tests: one browser for all of them.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { launch, onTab } from "./browser.mjs";
import { kSecret, serve } from "./fixture_server.mjs";

// `start`: the address of a page that the test does not name. Gives onPage(world, look, body), where `body` gets the page
// and the server of `world`.
export function fixturePages(start) {
  const dist = process.env.TIDEPOOL_WEBUI_DIST;
  let browser;
  before(async () => {
    assert.ok(dist, "TIDEPOOL_WEBUI_DIST must name the built dashboard; ctest sets it");
    browser = await launch();
  });
  after(() => browser?.close());
  return async (world, { hash = start, ...look }, body) => {
    const server = await serve(world, dist);
    const token = hash.includes("token=") ? "" : `&token=${kSecret}`;
    try {
      await onTab(browser, { url: `${server.url}/${hash}${token}`, ...look }, (page) => body(page, server));
    } finally {
      await server.close();
    }
  };
}
