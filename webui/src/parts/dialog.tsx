// The browser's own modal dialog: it keeps the focus inside, and Escape closes it. What had the focus before has it
// after.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // A button that was off while it was asked takes the focus only when it is drawn again.
    return () => queueMicrotask(() => { if (opener instanceof HTMLElement) opener.focus(); });
  }, []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={onClose}
      onClick={(event) => { if (event.target === dialog.current) dialog.current?.close(); }}>
      <div class="dialog-body"><h2 id="dialog-title">{title}</h2>{children}</div>
    </dialog>
  );
}
