// usage: read_page.mjs ADDRESS TEXT...     ADDRESS: of a page of the dashboard, with its token
// Prints what the page says once each of the texts stands on it; exit code 1 with what it says if one never does.
import { launch, openTab } from "./browser.mjs";

const [address, ...texts] = process.argv.slice(2);
const browser = await launch();
const tab = await openTab(browser, { url: address, ownAuthority: true });
const said = () => tab.page.locator("body").innerText();
let found = true;
try {
  await tab.page.waitForFunction((wanted) => {
    const shown = document.body.innerText;
    return wanted.every((text) => shown.includes(text));
  }, texts);
} catch {
  found = false;
}
console.log(await said());
for (const fault of tab.faults) console.error(fault);
await browser.close();
process.exit(found && tab.faults.length === 0 ? 0 : 1);
