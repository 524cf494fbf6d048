import type { ButtonHTMLAttributes, ComponentChildren, InputHTMLAttributes, Ref } from 'preact';
import { copyText } from '../state/notice.ts';
import { nodeStyle } from '../state/resource.ts';
import { Icon, type IconName } from './icon.tsx';

export type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon'> & {
  icon?: IconName;
  /** Shown while the pointer or the focus is on it. */
  tip?: string | undefined;
};

/** With an edge by default; `is-primary`: the one action of a page, `is-quiet`: beside others. */
export function Button({ icon, tip, class: kind = '', children, ...props }: ButtonProps) {
  return (
    <button type="button" class={`button ${kind as string}`.trim()} data-tip={tip} {...props}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button in a sentence. */
export function LinkButton({ tip, icon: _, ...props }: ButtonProps) {
  return <button type="button" class="link-button" data-tip={tip} {...props} />;
}

/** A button with one sign, which its label explains, also as a tooltip. */
export function IconButton({ label, icon, children, ...props }: ButtonProps & { label: string }) {
  return (
    <button type="button" class="icon-button" aria-label={label} data-tip={label} {...props}>
      {icon ? <Icon name={icon} /> : children}
    </button>
  );
}

type TextInputProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onInput'> & {
  inputRef?: Ref<HTMLInputElement>;
  onText: (text: string) => void;
};

/** A field for a text that no browser could guess or correct. */
export function TextInput({ inputRef = null, onText, ...props }: TextInputProps) {
  return (
    <input
      ref={inputRef}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      {...props}
    />
  );
}

/** The colour of a node, beside its name. */
export function NodeDot({ id, isOff = false }: { id: string; isOff?: boolean }) {
  return <span class={`dot ${isOff ? 'node-off' : ''}`.trim()} style={isOff ? {} : nodeStyle(id)} aria-hidden="true" />;
}

/** A few nodes by name, with their colours. */
export function NodeNames({ ids, most }: { ids: readonly string[]; most: number }) {
  return (
    <span class="flex wrap small">
      {ids.slice(0, most).map((id) => (
        <span key={id}>
          <NodeDot id={id} /> {id}
        </span>
      ))}
      {ids.length > most && `${ids.length - most} more`}
    </span>
  );
}

type Tone = 'err' | 'warn' | 'ok' | 'accent';

interface ChipProps {
  tone?: Tone | undefined;
  icon?: IconName;
  class?: string;
  children: ComponentChildren;
}

/** A short fact. */
export function Chip({ tone, icon, class: kind = '', children }: ChipProps) {
  return (
    <span class={`chip ${tone ? `is-${tone}` : ''} ${kind}`.trim()}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

interface ConditionProps {
  text: string;
  class?: string;
  children?: ComponentChildren;
  onRemove: () => void;
}

/** A condition of a view in a list, with a button that removes it. */
export function Condition({ text, class: kind = '', children, onRemove }: ConditionProps) {
  return (
    <li class={`chip is-accent ${kind}`.trim()}>
      {children}
      <span>{text}</span>
      <IconButton label={`Remove: ${text}`} icon="close" onClick={onRemove} />
    </li>
  );
}

interface SegmentsProps<Value extends string> {
  label: string;
  value: Value;
  choices: readonly { value: Value; text: ComponentChildren; tip?: string; disabled?: boolean }[];
  onChange: (value: Value) => void;
}

/** One of a few, all of them visible. */
export function Segments<Value extends string>({ label, value, choices, onChange }: SegmentsProps<Value>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {choices.map(({ value: own, text, tip, disabled }) => (
        <button
          key={own}
          type="button"
          class="segment"
          aria-pressed={own === value}
          disabled={disabled}
          data-tip={tip}
          onClick={() => onChange(own)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}

interface TabsProps<Value extends string> {
  label: string;
  /** Prefix of the ids of tabs; the panel has the id `ID-panel`. */
  id: string;
  value: Value;
  tabs: readonly { value: Value; text: ComponentChildren }[];
  onChange: (value: Value) => void;
}

/** Parts of which one is shown. One tab stop; arrow keys choose. */
export function Tabs<Value extends string>({ label, id, value, tabs, onChange }: TabsProps<Value>) {
  const press = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.value === value);
    const next = tabs[{ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key] ?? -1];
    if (!next) return;
    event.preventDefault();
    onChange(next.value);
    document.getElementById(`${id}-${next.value}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={press}>
      {tabs.map(({ value: own, text }) => (
        <button
          key={own}
          id={`${id}-${own}`}
          type="button"
          role="tab"
          class="tab"
          tabIndex={own === value ? 0 : -1}
          aria-selected={own === value}
          aria-controls={`${id}-panel`}
          onClick={() => onChange(own)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** Copies the command that prints in a terminal what the page shows. */
export function CopyCommand({ command }: { command: string }) {
  return (
    <Button icon="terminal" tip={command} onClick={() => void copyText(command, 'Command')}>
      Copy as CLI
    </Button>
  );
}

interface CardProps {
  id: string;
  title: ComponentChildren;
  /** Beside the title: chips, and at the right end what belongs to all of the card. */
  aside?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

/** A part of a page with a title. */
export function Card({ id, title, aside, class: kind = '', children }: CardProps) {
  return (
    <section class={`card ${kind}`.trim()} aria-labelledby={id}>
      <div class="flex wrap line card-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** The place of something that is loading. */
export function Skeleton({ height = 12, width = '100%' }: { height?: number; width?: string }) {
  return <span class="skeleton" aria-hidden="true" style={{ height: `${height}px`, width }} />;
}
