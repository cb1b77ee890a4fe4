// A headless Chromium that notes what a good page never does: console errors, foreign requests.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const source = process.env.TIDEPOOL_SOURCE_DIR ?? join(new URL(".", import.meta.url).pathname, "../..");
const require = createRequire(join(source, "webui/package.json"));
const kChromium = process.env.TIDEPOOL_CHROMIUM ?? "/usr/bin/chromium";
const kArguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
export const kSizes = { wide: { width: 1440, height: 900 }, laptop: { width: 1280, height: 800 }, tablet: { width: 768, height: 1024 }, narrow: { width: 390, height: 844 } };
export const screenshots = process.env.TIDEPOOL_SCREENSHOTS ?? join(source, "build/screenshots");

export async function launch() {
  if (!existsSync(kChromium)) {
    throw new Error(`${kChromium} is missing: run tools/install-packages (Debian package "chromium"), or name another one in TIDEPOOL_CHROMIUM`);
  }
  const { chromium } = require("playwright-core");
  return chromium.launch({ executablePath: kChromium, args: kArguments });
}

// A tab of one look and size. `faults` grows with everything that must not happen; Chromium itself writes a
// console error for each failed request, so a test that causes one names it in `allow`. `zone`: of the browser; the
// machine's if left out. `ownAuthority`: the daemon's certificate is of its own authority, which Chromium does not know.
async function openTab(browser, { url, size = "wide", theme = "light", zone, allow = null, ownAuthority = false }) {
  const context = await browser.newContext({ viewport: kSizes[size], colorScheme: theme, timezoneId: zone, deviceScaleFactor: 1, reducedMotion: "reduce", ignoreHTTPSErrors: ownAuthority });
  const page = await context.newPage();
  const faults = [];
  const host = new URL(url).host;
  page.on("console", (message) => {
    if (message.type() === "error" && !allow?.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`page error: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).host !== host) faults.push(`foreign request: ${request.url()}`);
  });
  page.setDefaultTimeout(15_000);
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}

// Runs `body` on the page of such a tab; afterwards nothing may have gone wrong behind it.
export async function onTab(browser, look, body) {
  const tab = await openTab(browser, look);
  try {
    await body(tab.page);
    assert.deepEqual(tab.faults, []);
  } finally {
    await tab.close();
  }
}

export async function shoot(page, name) {
  mkdirSync(screenshots, { recursive: true });
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}
