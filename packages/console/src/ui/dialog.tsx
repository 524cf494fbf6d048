import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './controls.tsx';

interface DialogProps {
  title: string;
  class?: string;
  isOpen: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog at an edge of the window: the left one, or the right one, which is the lower one on a phone. */
export function Sheet({ class: kind = '', side = 'left', ...props }: DialogProps & { side?: 'left' | 'right' }) {
  return <Dialog class={`sheet ${side === 'right' ? 'is-right' : ''} ${kind}`} hasClose {...props} />;
}

/** The native dialog: it traps the focus, closes with Escape and restores the focus. */
export function Dialog({
  title,
  class: kind = '',
  isOpen,
  onClose,
  hasClose = false,
  children,
}: DialogProps & { hasClose?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Before other effects: a page cannot take the focus while this is open.
  useLayoutEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen) dialog.current?.close();
  }, [isOpen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes the dialog; Escape does so natively
    <dialog
      ref={dialog}
      class={`dialog ${kind}`.trim()}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-body">
        <div class="sheet-head">
          <h2 id={titleId}>{title}</h2>
          {hasClose && <IconButton label="Close" icon="close" onClick={onClose} />}
        </div>
        {isOpen && children}
      </div>
    </dialog>
  );
}
