// Drawn here, so that the page needs no font and no request for them. All are decoration: text says the same.
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="logo-field" />
      <path d="M5 20.500c3.700 0 3.700-3 7.300-3s3.700 3 7.400 3 3.600-3 7.300-3" class="logo-wave" />
      <path d="M8.500 13c2.500 0 2.500-2 5-2s2.500 2 5 2 2.500-2 5-2" class="logo-wave faint" />
    </svg>
  );
}

export function ThemeIcon({ dark }: { dark: boolean }) {
  return (
    <svg viewBox="0 0 20 20" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.600" stroke-linecap="round" aria-hidden="true">
      {dark
        ? <><circle cx="10" cy="10" r="3.600" /><path d="M10 2.500v1.800M10 15.700v1.800M2.500 10h1.800M15.700 10h1.800M4.700 4.700l1.300 1.300M14 14l1.300 1.300M4.700 15.300 6 14M14 6l1.300-1.300" /></>
        : <path d="M16.500 12.200A7 7 0 0 1 7.800 3.500a7 7 0 1 0 8.700 8.700Z" stroke-linejoin="round" />}
    </svg>
  );
}

// One shape a state as well as one colour: no state is told by colour alone.
export function StateGlyph({ kind }: { kind: "wait" | "run" | "change" | "hold" | "done" | "fail" | "off" }) {
  const shapes = {
    wait: <circle cx="6" cy="6" r="3.500" fill="none" stroke="currentColor" stroke-width="1.600" stroke-dasharray="2.2 1.8" />,
    run: <circle cx="6" cy="6" r="3.800" fill="currentColor" />,
    change: <path d="M2 4.500h7M6.800 2.300 9 4.500 6.800 6.700M10 8.500H3" fill="none" stroke="currentColor" stroke-width="1.500" stroke-linecap="round" stroke-linejoin="round" />,
    hold: <path d="M4 2.500v7M8 2.500v7" stroke="currentColor" stroke-width="2" stroke-linecap="round" />,
    done: <path d="m2.500 6.300 2.400 2.500L9.500 3.500" fill="none" stroke="currentColor" stroke-width="1.800" stroke-linecap="round" stroke-linejoin="round" />,
    fail: <path d="m3 3 6 6M9 3 3 9" stroke="currentColor" stroke-width="1.800" stroke-linecap="round" />,
    off: <path d="M3 6h6" stroke="currentColor" stroke-width="1.800" stroke-linecap="round" />,
  };
  return <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">{shapes[kind]}</svg>;
}
