import { fieldValues } from '@porthole/logs/query';
import { Component } from 'preact';
import { nodeStyle } from '../../state/resource.ts';
import type { ZoneName } from '../../state/view.ts';
import { formatBytes, formatCounted, formatDate, formatTime } from '../../ui/format.ts';
import { isMatch } from '../model/fold-rows.ts';
import type { TextMatcher } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';
import {
  componentText,
  hiddenBytes,
  levelTone,
  oneLine,
  pairsText,
  recordTime,
  SHOWN_CHARACTERS,
  textPieces,
  visibleText,
} from './record-text.ts';

interface RecordRowProps {
  id: string;
  record: ShownRecord;
  rowStyle: RowStyle;
  isFocused: boolean;
  isContext: boolean;
  /** Its day differs from that of the record before. */
  isNewDay: boolean;
  /** It was written, or arrived, after records of later times. */
  isLate: boolean;
  isExpanded: boolean;
  /** Of the repeated lines it stands for: how many, and over which time. */
  fold: string | null;
  /** They are shown after it. */
  isOpened: boolean;
  onOpen: (record: ShownRecord) => void;
  /** Opens or closes them, or all lines of the record. */
  onToggle: (record: ShownRecord, part?: 'lines') => void;
}

/** Style shared by all rows. The same object as long as nothing changes, so that rows need not render again. */
export interface RowStyle {
  zone: ZoneName;
  isWrapped: boolean;
  withNode: boolean;
  /** Records of several logs are shown: those without a component name their log. */
  withLog: boolean;
  matcher: TextMatcher | null;
  columns: readonly string[];
  /** Changes with the node colours. */
  colours: string;
}

/** One record: time, level, node, then the message. Renders only when its own props change: most rows stay the same. */
export class RecordRow extends Component<RecordRowProps> {
  override shouldComponentUpdate(next: Readonly<RecordRowProps>): boolean {
    const now = this.props;
    return (Object.keys(next) as (keyof RecordRowProps)[]).some((name) => next[name] !== now[name]);
  }

  override render({ id, record, rowStyle, isFocused, isContext, isExpanded, isLate }: RecordRowProps) {
    const classes = ['row', `row-${levelTone(record.level)}`];
    if (isFocused) classes.push('is-focused');
    if (isContext) classes.push('is-context');
    if (isExpanded) classes.push('is-expanded');
    const timeMs = recordTime(record);
    return (
      <div id={id} class={classes.join(' ')} style={nodeStyle(record.node)} {...(isFocused ? FOCUSED_ROW : ROW)}>
        <span class="row-time" {...CELL} title={timeMs === undefined ? 'no timestamp' : new Date(timeMs).toISOString()}>
          {timeMs === undefined ? '' : formatTime(timeMs, rowStyle.zone)}
          {record.continued ? <span title="Part of a very long line">⋯</span> : null}
          {isLate ? (
            <i title="Late: later records were shown before it">↶</i>
          ) : record.isUnsure ? (
            <i title="Order uncertain (clock uncertainty)">≈</i>
          ) : null}
        </span>
        <span class="row-level" {...CELL}>
          {record.level ?? ''}
        </span>
        {rowStyle.withNode ? (
          <span class="row-node" {...CELL} title={record.node}>
            {record.node}
          </span>
        ) : null}
        {rowStyle.columns.map((name) => this.#column(name))}
        {this.#message(rowStyle)}
      </div>
    );
  }

  #column(name: string) {
    const text = columnText(this.props.record, name);
    return (
      <span key={name} class="row-column" {...CELL} title={text}>
        {text === '' ? null : (
          <span class="row-value" data-field={name}>
            {text}
          </span>
        )}
      </span>
    );
  }

  #message({ isWrapped, withLog, matcher: wanted, zone }: RowStyle) {
    const { record, isNewDay, isExpanded, fold, isOpened, onOpen, onToggle } = this.props;
    // Its file may say the same in other words: what is not searched is not marked.
    const matcher = wanted && isMatch(record, wanted) ? wanted : null;
    const isWhole = isWrapped || isExpanded;
    const whole = record.message.slice(0, SHOWN_CHARACTERS);
    const lines = whole.split(/\r?\n/);
    const message = isWhole ? whole : (lines[0] ?? '');
    const context = pairsText(record).slice(0, Math.max(0, SHOWN_CHARACTERS - whole.length));
    const part = componentText(record) || (withLog && record.file.replace(/\.log$/, ''));
    const hidden = hiddenBytes(record);
    const timeMs = recordTime(record);
    return (
      <span class="row-message" {...CELL}>
        {isNewDay && timeMs !== undefined ? <b class="row-day">{formatDate(timeMs, zone)}</b> : null}
        {part ? <span class="fixed faint row-component">{visibleText(part.slice(0, 200))}</span> : null}
        <span class="row-text">
          <MessageText text={message} matcher={matcher} />
          {context ? (
            <span class="row-context">
              {' '}
              <MessageText text={isWhole ? context : oneLine(context)} matcher={matcher} />
            </span>
          ) : null}
        </span>
        {isWrapped || lines.length <= 1 ? null : (
          <button type="button" class="fixed dim row-more" tabIndex={-1} onClick={() => onToggle(record, 'lines')}>
            {isExpanded ? 'fewer lines' : `+${formatCounted(lines.length - 1, 'line')}`}
          </button>
        )}
        {fold === null ? null : (
          <button
            type="button"
            class="fixed dim row-more row-fold"
            tabIndex={-1}
            aria-expanded={isOpened}
            title={isOpened ? 'Fold these lines again (o)' : 'Lines that differ in numbers only: show them all (o)'}
            onClick={() => onToggle(record)}
          >
            {fold}
          </button>
        )}
        {hidden > 0 ? (
          <button type="button" class="fixed dim row-more" tabIndex={-1} onClick={() => onOpen(record)}>
            show rest · {formatBytes(hidden)}
          </button>
        ) : null}
      </span>
    );
  }
}

/** Text with colours and highlighted matches: rendered as text nodes only. */
export function MessageText({ text, matcher }: { text: string; matcher: TextMatcher | null }) {
  return (
    <>
      {textPieces(text, matcher).map(({ text: piece, classes, colours, isMatch, isValue }, index) => {
        const inner = isMatch ? <mark key={index}>{piece}</mark> : isValue ? <var key={index}>{piece}</var> : piece;
        return classes === '' ? (
          inner
        ) : (
          // An object sets properties one by one, which the content security policy allows; a style attribute it would
          // block.
          <span key={index} class={classes} {...(colours && { style: { ...colours } })}>
            {inner}
          </span>
        );
      })}
    </>
  );
}

/* ARIA roles of the list. It cannot be an HTML table: rows are positioned by their height. */

export const ROW = { role: 'row' } as const;
const FOCUSED_ROW = { role: 'row', 'aria-selected': true } as const;
export const CELL = { role: 'gridcell' } as const;

/** One tab stop, which names the focused row; the total number of rows is unknown. */
export function gridRole({ activeId, isBusy }: { activeId: string | undefined; isBusy: boolean }) {
  return {
    role: 'grid',
    tabIndex: 0,
    'aria-label': 'Log records',
    'aria-rowcount': -1,
    'aria-busy': isBusy,
    'aria-activedescendant': activeId,
  } as const;
}

/** More of a value is neither shown nor part of its tooltip. */
const MAX_CHARACTERS = 1000;

/** More values of a field are a count. */
const MAX_VALUES = 10;

/** A value that was clicked, or several of one field. */
export interface PickedValues {
  field: string;
  values: readonly string[];
  /** The bottom left corner of what was clicked, in the window. */
  at: { x: number; y: number };
}

/** The values of a field in one line; empty if the record does not have it. */
export function columnText(record: ShownRecord, field: string): string {
  const values = fieldValues(record, field);
  const shown = values.slice(0, MAX_VALUES).map((value) => oneLine(visibleText(value.slice(0, MAX_CHARACTERS))));
  return [...shown, ...(values.length > MAX_VALUES ? [`… ${values.length - MAX_VALUES} more`] : [])].join(', ');
}

/** What a click on a part of a row picks; `null` if there is no value. */
export function pickedValues(target: Element | null, record: ShownRecord): PickedValues | null {
  const chip = target?.closest<HTMLElement>('[data-field]');
  const { field, index } = chip?.dataset ?? {};
  if (!chip || field === undefined) return null;
  const all = fieldValues(record, field);
  const values = index === undefined ? all.slice(0, MAX_VALUES) : all.slice(Number(index), Number(index) + 1);
  const { left, bottom } = chip.getBoundingClientRect();
  return values.length === 0 ? null : { field, values, at: { x: left, y: bottom } };
}
