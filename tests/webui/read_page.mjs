// usage: read_page.mjs ADDRESS TEXT...     ADDRESS: of a page of the dashboard, with its token
// Prints what the page says once each of the texts stands on it; exit code 1 with what it says if one never does.
import { launch, onTab } from "./browser.mjs";

const [address, ...texts] = process.argv.slice(2);
const browser = await launch();
try {
  await onTab(browser, { url: address, ownAuthority: true }, async (page) => {
    try {
      await page.waitForFunction((wanted) => wanted.every((text) => document.body.innerText.includes(text)), texts);
    } finally {
      console.log(await page.locator("body").innerText());
    }
  });
} catch (fault) {
  console.error(fault.message);
  process.exitCode = 1;
} finally {
  await browser.close();
}
