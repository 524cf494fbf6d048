import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  class: string;
  isOpen: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** The browser's own dialog: it keeps the focus inside, closes with Escape and gives the focus back. */
export function Dialog({ title, class: className, isOpen, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Before other effects: a page that takes the focus cannot have it while this is open.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog closes it; Escape does so by itself
    <dialog
      ref={dialog}
      class={`dialog ${className}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {isOpen && children}
      </div>
    </dialog>
  );
}
