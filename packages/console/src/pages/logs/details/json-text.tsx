import { indentJson } from '@porthole/client';
import { visibleText } from '../../../log-view/rows/record-text.ts';

/** More would only make the page slow: all of it is in the copied line. */
const MAX_LINES = 400;

/** JSON over several lines, keys dimmed. */
export function JsonText({ text }: { text: string }) {
  const lines = indentJson(text).split('\n');
  return (
    <pre class="json">
      {lines.slice(0, MAX_LINES).map((line, index) => {
        const [, indent = '', key = '', rest = ''] = /^(\s*)("(?:[^"\\]|\\.)*": )?(.*)$/.exec(line) ?? [];
        return (
          <span key={index}>
            {indent}
            {key ? <span class="dim">{visibleText(key)}</span> : null}
            {visibleText(rest.slice(0, 4096))}
            {'\n'}
          </span>
        );
      })}
      {lines.length > MAX_LINES ? `… ${lines.length - MAX_LINES} more lines` : null}
    </pre>
  );
}
