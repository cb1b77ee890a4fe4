// The token of this tab: taken from #token=… once, kept in sessionStorage, never left in the address.
const kKey = "tidepool.token";

// Returns the token in the fragment and the fragment without it.
export function splitFragment(hash: string): { token: string | null; rest: string } {
  const fields = hash.replace(/^#/, "").split("&");
  const found = fields.find((field) => field.startsWith("token="));
  if (found === undefined) return { token: null, rest: hash };
  const rest = fields.filter((field) => field !== found).join("&");
  let token: string;
  try {
    token = decodeURIComponent(found.slice("token=".length));
  } catch {
    token = found.slice("token=".length);
  }
  return { token: token || null, rest: rest ? `#${rest}` : "#/" };
}

// Returns the token that the address has brought; null: none.
export function adoptFragment(): string | null {
  const { token, rest } = splitFragment(location.hash);
  if (token === null) return null;
  sessionStorage.setItem(kKey, token);
  history.replaceState(history.state, "", location.pathname + location.search + rest);
  return token;
}

export function storedToken(): string | null { return sessionStorage.getItem(kKey); }
export function keepToken(token: string): void { sessionStorage.setItem(kKey, token); }
export function forgetToken(): void { sessionStorage.removeItem(kKey); }
