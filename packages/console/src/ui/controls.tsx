import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { copyText } from '../state/notice.ts';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement>;

export function Button(props: ButtonProps) {
  return <button type="button" class="button" {...props} />;
}

/** A button that looks like a link. */
export function LinkButton(props: ButtonProps) {
  return <Button class="link-button" {...props} />;
}

/** A button with one sign, which its label explains. */
export function IconButton({ label, ...props }: ButtonProps & { label: string }) {
  return <Button class="icon-button" aria-label={label} {...props} />;
}

/** A condition of a view, with a button that removes it. */
export function Chip({ text, label = `Remove ${text}`, class: kind = '', children, onRemove }: ChipProps) {
  return (
    <li class={`chip ${kind}`.trim()}>
      {children}
      <span>{text}</span>
      <button type="button" aria-label={label} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}

interface ChipProps {
  text: string;
  /** What the button does. */
  label?: string;
  class?: string;
  /** In front of the text. */
  children?: ComponentChildren;
  onRemove: () => void;
}

/** Copies the command that prints in a terminal what the page shows. */
export function CopyCommand({ command }: { command: string }) {
  return (
    <Button title={command} onClick={() => void copyText(command, 'Command')}>
      Copy as CLI
    </Button>
  );
}

interface CardProps {
  id: string;
  title: ComponentChildren;
  /** Beside the title. */
  aside?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

/** A part of a page with a title. */
export function Card({ id, title, aside, class: kind = 'list-card', children }: CardProps) {
  return (
    <section class={`card ${kind}`} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

interface MenuProps {
  class: string;
  /** The summary, which opens it. */
  summary: ComponentChildren;
  /** Closes it, too, when the focus leaves it. */
  closesOnLeave?: boolean;
  children: (close: () => void) => ComponentChildren;
}

/** What opens below its summary. Escape closes it. */
export function Menu({ class: kind, summary, closesOnLeave = false, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return;
    event.stopPropagation();
    close();
    menu.current.querySelector('summary')?.focus();
  };
  const leave = ({ relatedTarget }: FocusEvent) => {
    if (!(relatedTarget instanceof Node && menu.current?.contains(relatedTarget))) close();
  };
  return (
    <details ref={menu} class={`menu ${kind}`} onKeyDown={press} {...(closesOnLeave && { onFocusOut: leave })}>
      {summary}
      <div class="menu-body">{children(close)}</div>
    </details>
  );
}
