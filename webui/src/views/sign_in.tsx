import { useState } from "preact/hooks";
import { Logo } from "../parts/icons";

interface Props {
  hadToken: boolean;
  message: string;
  onToken(token: string): void;
}

export function SignIn({ hadToken, message, onToken }: Props) {
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) onToken(token.trim());
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <h1><Logo /> Tidepool</h1>
        <label for="token">Access token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} autofocus value={token}
          aria-describedby="token-help" aria-invalid={hadToken}
          onInput={(event) => setToken(event.currentTarget.value)} />
        {hadToken && <p class="problem" role="alert">The token was refused: {message}</p>}
        <button class="button primary" type="submit" disabled={!token.trim()}>Sign in</button>
        <p class="hint" id="token-help">
          <code>schedulerd</code> writes an admin token to <code>admin.token</code> in its state directory at its first start. <code>schedctl token create</code> makes another.
          It stays in this tab and is gone when the tab closes.
        </p>
      </form>
    </main>
  );
}
