import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { changedWords, type DiffRow, foldRows } from '../../config/line-diff.ts';
import { type LineRange, splitTokens, type TextMatch, type TomlLine, tokenize } from '../../config/toml-text.ts';
import { LinkButton } from '../../ui/controls.tsx';
import { formatCount } from '../../ui/format.ts';

type Lines = readonly TomlLine[];

interface DiffLinesProps {
  left: Lines;
  right: Lines;
  rows: readonly DiffRow[];
  /** Both texts beside each other, where there is room. */
  isSplit: boolean;
  label: string;
}

/** Two texts line by line, as one text or beside each other; what both have is folded. */
export function DiffLines({ left, right, rows, isSplit, label }: DiffLinesProps) {
  const [opened, setOpened] = useState<readonly number[]>([]);
  const runs = useMemo(() => foldRows(rows), [rows]);
  return (
    <section class={`card code-card ${isSplit ? 'is-split' : ''}`} aria-label={label}>
      {runs.map(({ isFolded, start, end }) =>
        isFolded && !opened.includes(start) ? (
          <LinkButton key={start} class="link-button code-fold" onClick={() => setOpened([...opened, start])}>
            {formatCount(end - start)} equal lines · show
          </LinkButton>
        ) : (
          rows.slice(start, end).map((row) => <Row key={`${row.left} ${row.right}`} {...{ row, left, right }} />)
        ),
      )}
    </section>
  );
}

const SECRET_WORDS = {
  equal: 'same secret (by fingerprint)',
  different: 'different secret (by fingerprint)',
  unknown: 'not compared: no fingerprint',
} as const;

/** Both sides of a row; the style decides whether they are beside each other, and shows equal lines once. */
function Row({ row, left, right }: { row: DiffRow; left: Lines; right: Lines }) {
  const { kind, secret } = row;
  const mine = left[row.left ?? -1];
  const other = right[row.right ?? -1];
  const words = kind === 'changed' && !secret && mine && other ? changedWords(mine.text, other.text) : null;
  const note = secret && SECRET_WORDS[secret];
  const isEqual = kind === 'equal';
  return (
    <div class={`code-row is-${kind}`}>
      <CodeLine
        class="is-left"
        numbers={[row.left, isEqual ? row.right : null]}
        sign={isEqual ? ' ' : '−'}
        tag="del"
        line={mine}
        ranges={words ? [words.left] : NO_RANGES}
        note={note}
      />
      <CodeLine
        class="is-right"
        numbers={[null, row.right]}
        sign={isEqual ? ' ' : '+'}
        tag="ins"
        line={other}
        ranges={words ? [words.right] : NO_RANGES}
        note={note}
      />
    </div>
  );
}

interface TextLinesProps {
  lines: Lines;
  label: string;
  /** Lines that were changed. */
  marked?: ReadonlySet<number> | undefined;
  /** What is said beside a setting. */
  noteOf?: (key: string) => string | null;
  matches?: readonly TextMatch[];
  /** Index of the current match. */
  current?: number;
}

/** Lines shown at once: more would make the page slow, and few configurations have so many. */
const MAX_LINES = 3000;

/** One text with line numbers and marks. */
export function TextLines({ lines, label, marked, noteOf, matches = [], current = -1 }: TextLinesProps) {
  const view = useRef<HTMLElement>(null);
  const [isWhole, setWhole] = useState(false);
  const match = matches[current];
  const shown = isWhole || (match && match.line >= MAX_LINES) ? lines : lines.slice(0, MAX_LINES);
  useEffect(() => {
    if (match) view.current?.querySelector('.is-current')?.scrollIntoView({ block: 'center', inline: 'nearest' });
  }, [match]);
  const byLine = useMemo(() => {
    const lists = new Map<number, TextMatch[]>();
    for (const one of matches) lists.set(one.line, [...(lists.get(one.line) ?? []), one]);
    return lists;
  }, [matches]);
  return (
    <section ref={view} class="card code-card" aria-label={label}>
      {shown.map((line, index) => {
        const ranges = byLine.get(index) ?? NO_RANGES;
        return (
          <CodeLine
            key={index}
            class={marked?.has(index) ? 'is-marked' : ''}
            numbers={[index]}
            tag="mark"
            current={match?.line === index ? ranges.indexOf(match) : -1}
            note={line.key === null ? null : noteOf?.(line.key)}
            {...{ line, ranges }}
          />
        );
      })}
      {shown.length < lines.length && (
        <LinkButton class="link-button code-fold" onClick={() => setWhole(true)}>
          {formatCount(lines.length - shown.length)} more lines · show
        </LinkButton>
      )}
    </section>
  );
}

interface CodeLineProps {
  class: string;
  /** Indexes of the line: in its text, or in both texts of a difference. */
  numbers: readonly (number | null)[];
  sign?: string;
  line: TomlLine | undefined;
  ranges: readonly LineRange[];
  /** What the ranges are. */
  tag: 'mark' | 'del' | 'ins';
  /** Index of the current range. */
  current?: number;
  note?: string | null | undefined;
}

/** Longer lines are rarely read to the end, and thousands of spans in one line slow down scrolling. */
const MAX_LENGTH = 2000;

const NO_RANGES: readonly LineRange[] = [];

function CodeLine({ class: kind, numbers, sign, line, ranges, tag: Tag, current = -1, note }: CodeLineProps) {
  const [isWhole, setWhole] = useState(false);
  if (!line) return <div class={`code-line is-nothing ${kind}`} />;
  const isCut = line.text.length > MAX_LENGTH && !isWhole && current < 0;
  const tokens = tokenize(isCut ? { ...line, text: line.text.slice(0, MAX_LENGTH) } : line);
  return (
    <div class={`code-line ${kind}`}>
      {numbers.map((number, index) => (
        <span key={index} class="line-number">
          {number === null ? '' : number + 1}
        </span>
      ))}
      {sign && <span class="line-sign">{sign}</span>}
      <code class="wraps">
        {splitTokens(tokens, ranges).map(({ kind: token, text, range }, index) => (
          <span key={index} class={token === 'plain' ? undefined : `toml-${token}`}>
            {range === null ? text : <Tag class={range === current ? 'is-current' : ''}>{text}</Tag>}
          </span>
        ))}
        {isCut && (
          <LinkButton onClick={() => setWhole(true)}>
            … show the other {formatCount(line.text.length - MAX_LENGTH)} characters
          </LinkButton>
        )}
      </code>
      {note && <span class="faint small">{note}</span>}
    </div>
  );
}
