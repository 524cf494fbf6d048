import { useState } from 'preact/hooks';
import { cutTokens, type LineSegment, lineSegments, type TextMatch } from '../../../config/find-lines.ts';
import type { TomlLine } from '../../../config/toml-text.ts';

interface TomlCodeProps {
  line: TomlLine;
  matches?: readonly TextMatch[];
  /** Index of the current match among those of this line. */
  current?: number | null;
}

/** Longer lines are rarely read to the end, and thousands of spans in one line slow down scrolling. */
const MAX_LENGTH = 2000;

const NO_MATCHES: readonly TextMatch[] = [];

/** One highlighted line. */
export function TomlCode({ line, matches = NO_MATCHES, current = null }: TomlCodeProps) {
  const [isWhole, setWhole] = useState(false);
  const length = line.tokens.reduce((sum, { text }) => sum + text.length, 0);
  const isCut = length > MAX_LENGTH && !isWhole && current === null;
  const tokens = isCut ? cutTokens(line.tokens, MAX_LENGTH) : line.tokens;
  return (
    <code class="toml-code">
      {lineSegments(tokens, matches).map((segment, index) => drawSegment(segment, index, current))}
      {isCut && (
        <button type="button" class="link-button" onClick={() => setWhole(true)}>
          … show the other {(length - MAX_LENGTH).toLocaleString('en-US')} characters
        </button>
      )}
    </code>
  );
}

function drawSegment({ kind, text, found }: LineSegment, index: number, current: number | null) {
  const content = found === null ? text : <mark class={found === current ? 'is-current' : ''}>{text}</mark>;
  if (kind === 'plain') return content;
  if (kind === 'mask')
    return (
      <span key={index} class="toml-mask" title="A secret; its value never leaves the node">
        {content}
      </span>
    );
  return (
    <span key={index} class={`toml-${kind}`}>
      {content}
    </span>
  );
}
