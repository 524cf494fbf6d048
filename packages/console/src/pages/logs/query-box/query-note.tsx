import { explainQuery } from '@porthole/contract';
import { visibleText } from '../../../log-view/rows/record-text.ts';
import type { BoxContent } from '../../../state/query-view.ts';

interface QueryNoteProps {
  id: string;
  content: BoxContent;
  /** No mistake yet. */
  isIncomplete: boolean;
}

/** Below the query box: the query in words, or what is wrong with it. */
export function QueryNote({ id, content, isIncomplete }: QueryNoteProps) {
  if (content.kind === 'find') return null;
  const isProblem = content.kind === 'invalid' && !isIncomplete;
  const classes = `query-note ${isProblem ? 'field-problem' : 'dim'} ${isIncomplete ? 'is-incomplete' : ''}`;
  return (
    <p id={id} class={classes} role="status">
      {content.kind === 'invalid' ? content.message : `Records where ${visibleText(explainQuery(content.node))}`}
    </p>
  );
}

/** Underlines the character where the query is wrong; lies over the field and scrolls with it. */
export function QueryMarker({ text, position, scrollLeft }: { text: string; position: number; scrollLeft: number }) {
  const at = Math.min(position, text.length);
  const character = text.codePointAt(at);
  const shown = character === undefined ? ' ' : String.fromCodePoint(character);
  return (
    <span class="query-marker" aria-hidden="true">
      {/* An object sets the property itself, which the content security policy allows. */}
      <span style={{ transform: `translateX(${-scrollLeft}px)` }}>
        {text.slice(0, at)}
        <b>{shown}</b>
      </span>
    </span>
  );
}
