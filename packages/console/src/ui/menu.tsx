import { type ComponentChildren, h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useLeaving } from './hooks.ts';
import { Icon, type IconName } from './icon.tsx';

interface MenuProps {
  class?: string;
  /** The button that opens it: a sign, a text and an arrow, or anything else. */
  icon?: IconName;
  button: ComponentChildren;
  buttonClass?: string;
  /** What the button is for, if its text does not say it. */
  label?: string;
  tip?: string;
  /** Which edge of the button it is aligned with. */
  side?: 'left' | 'right';
  children: (close: () => void) => ComponentChildren;
}

/** What opens below a button. Arrow keys move through its items; Escape, leaving it and a press elsewhere close it. */
export function Menu({
  class: kind = '',
  icon,
  button,
  buttonClass = 'button',
  label,
  tip,
  side,
  children,
}: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const close = () => setOpen(false);
  useLeaving(box, close, { isActive: isOpen });
  const press = (event: KeyboardEvent) => {
    if (!isOpen) return;
    if (event.key === 'Escape') {
      close();
      box.current?.querySelector('button')?.focus();
    } else if (!moveFocus(box.current, event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the buttons and fields in it
    <div ref={box} class={`menu ${kind}`.trim()} onKeyDown={press}>
      <button
        type="button"
        class={buttonClass}
        aria-label={label}
        aria-expanded={isOpen}
        data-tip={tip}
        onClick={() => setOpen(!isOpen)}
      >
        {icon ? (
          <>
            <Icon name={icon} />
            <span>{button}</span>
            <Icon name="open" />
          </>
        ) : (
          button
        )}
      </button>
      {isOpen && <div class={`menu-body ${side === 'left' ? 'is-left' : ''}`.trim()}>{children(close)}</div>}
    </div>
  );
}

/** Moves the focus between the items of a menu. Within a field, arrow keys belong to it. */
function moveFocus(box: HTMLElement | null, { key, target }: KeyboardEvent): boolean {
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  if (step === 0 || !box || target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return false;
  const items = [...box.querySelectorAll<HTMLElement>('.menu-item:not(:disabled)')];
  const at = items.findIndex((item) => item.matches(':focus'));
  items[at < 0 ? (step > 0 ? 0 : items.length - 1) : (at + step + items.length) % items.length]?.focus();
  return items.length > 0;
}

interface MenuItemProps {
  icon?: IconName;
  /** At its right end: a key, a note. */
  note?: ComponentChildren;
  isOn?: boolean | undefined;
  disabled?: boolean;
  /** A link instead of an action. */
  href?: string;
  onClick?: () => void;
  children: ComponentChildren;
}

export function MenuItem({ icon, note, isOn, disabled, href, onClick, children }: MenuItemProps) {
  const own =
    href === undefined
      ? ({ type: 'button', 'aria-pressed': isOn, disabled } as const)
      : ({ href, 'aria-current': isOn ? 'page' : undefined } as const);
  const content = (
    <>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
      {note === undefined ? null : <small>{note}</small>}
    </>
  );
  return h(href === undefined ? 'button' : 'a', { ...own, class: 'flex wraps menu-item', onClick }, content);
}
