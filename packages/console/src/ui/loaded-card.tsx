import type { ResponseFacts } from '@porthole/contract';
import type { ComponentChildren } from 'preact';
import { Card } from './controls.tsx';
import type { Loaded } from './hooks.ts';
import { LoadedNote, PartialNote } from './notes.tsx';

interface LoadedCardProps<Value> {
  id: string;
  title: ComponentChildren | ((value: Value) => ComponentChildren);
  /** Beside the title. */
  aside?: (value: Value | null) => ComponentChildren;
  loaded: Loaded<Value>;
  /** What could not be loaded: `The events`. */
  what: string;
  /** What is loaded, if that is said in other words. */
  loading?: string;
  /** Nodes whose absence the page has named already. */
  known?: readonly string[];
  children: (value: Value) => ComponentChildren;
}

/** A card with what was loaded, that it is loading, why it could not be, or what is missing in it. */
export function LoadedCard<Value extends object>(props: LoadedCardProps<Value>) {
  const { id, title, aside, loaded, what, loading, known = [], children } = props;
  const { value, reload } = loaded;
  const response = value && 'members' in value ? (value as ResponseFacts) : null;
  const heading =
    typeof title !== 'function'
      ? title
      : value
        ? title(value)
        : what.replace(/^The (.)/, (_, letter: string) => letter.toUpperCase());
  return (
    <Card id={id} title={heading} aside={aside?.(value)}>
      <LoadedNote loaded={loaded} what={what} {...(loading !== undefined && { loading })} />
      {value && children(value)}
      {response && <PartialNote response={response} known={known} onRetry={reload} />}
    </Card>
  );
}

interface CardListProps<Item> {
  items: readonly Item[];
  /** More are a note. */
  most: number;
  keyOf: (item: Item) => string;
  hrefOf: (item: Item) => string;
  /** The class of a row. */
  kind: string;
  more: (count: number) => ComponentChildren;
  children: (item: Item) => ComponentChildren;
}

/** Rows of a card, each of which is one link. */
export function CardList<Item>({ items, most, keyOf, hrefOf, kind, more, children }: CardListProps<Item>) {
  return (
    <>
      <ul class="card-list">
        {items.slice(0, most).map((item) => (
          <li key={keyOf(item)}>
            <a class={`card-row ${kind}`} href={hrefOf(item)}>
              {children(item)}
            </a>
          </li>
        ))}
      </ul>
      {items.length > most && <p class="dim wraps card-note">{more(items.length - most)}</p>}
    </>
  );
}
