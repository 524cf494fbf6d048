import { Component } from 'preact';
import { nodeColour } from '../../state/cluster.ts';
import type { ZoneName } from '../../state/view.ts';
import { formatBytes, formatDate, formatTime } from '../../ui/format.ts';
import { type TextMatcher, textPieces } from '../find/text-pieces.ts';
import type { ShownRecord } from '../source/log-source.ts';
import { CELL, FOCUSED_ROW, ROW } from './grid-roles.ts';
import {
  contextText,
  hiddenBytes,
  levelLetter,
  levelTone,
  oneLine,
  recordTime,
  SHOWN_CHARACTERS,
  visibleText,
} from './record-text.ts';
import { columnText } from './row-values.ts';

/** More have no room. */
const MAX_TAGS = 5;

interface RecordRowProps {
  id: string;
  record: ShownRecord;
  rowStyle: RowStyle;
  isFocused: boolean;
  isContext: boolean;
  /** Its day differs from that of the record before. */
  isNewDay: boolean;
  onOpen: (record: ShownRecord) => void;
}

/** Style shared by all rows. The same object as long as nothing changes, so that rows need not render again. */
export interface RowStyle {
  zone: ZoneName;
  isWrapped: boolean;
  /** Records of several nodes are shown. */
  withNode: boolean;
  matcher: TextMatcher | null;
  /** Fields shown as columns. */
  columns: readonly string[];
  /** Changes with the node colours. */
  colours: string;
}

/** One record. Renders only when its own props change: while following, most rows stay the same. */
export class RecordRow extends Component<RecordRowProps> {
  override shouldComponentUpdate(next: Readonly<RecordRowProps>): boolean {
    const now = this.props;
    return (Object.keys(next) as (keyof RecordRowProps)[]).some((name) => next[name] !== now[name]);
  }

  override render({ id, record, rowStyle, isFocused, isContext }: RecordRowProps) {
    const classes = ['row', `row-${levelTone(record.level)}`, `node-${nodeColour(record.node)}`];
    if (isFocused) classes.push('is-focused');
    if (isContext) classes.push('is-context');
    return (
      <div id={id} class={classes.join(' ')} {...(isFocused ? FOCUSED_ROW : ROW)}>
        {this.#head()}
        <span class="row-source" {...CELL} title={record.source}>
          {record.source ? (
            <span class="row-value" data-field="source">
              {visibleText(record.source.slice(0, 200))}
            </span>
          ) : null}
        </span>
        <span class="row-tags" {...CELL}>
          {record.tags?.slice(0, MAX_TAGS).map((tag, index) => (
            <span key={index} class="row-value" data-field="component" data-index={index}>
              {`${index > 0 ? ' ' : ''}[${visibleText(tag.slice(0, 200))}]`}
            </span>
          ))}
        </span>
        {rowStyle.columns.map((name) => this.#column(name))}
        {this.#message(rowStyle)}
      </div>
    );
  }

  #head() {
    const { record, rowStyle } = this.props;
    const timeMs = recordTime(record);
    return (
      <>
        <span class="row-time" {...CELL} title={timeMs === undefined ? 'no timestamp' : new Date(timeMs).toISOString()}>
          {timeMs === undefined ? '' : formatTime(timeMs, rowStyle.zone)}
          {record.continued ? <span title="Part of a very long line">⋯</span> : null}
          {record.isUnsure ? <i title="Order uncertain (clock uncertainty)">≈</i> : null}
        </span>
        <span class="row-level" {...CELL} title={record.level}>
          {levelLetter(record.level)}
        </span>
        {rowStyle.withNode ? (
          <span class="row-node" {...CELL}>
            {record.node}
          </span>
        ) : null}
      </>
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

  #message({ isWrapped, matcher, zone }: RowStyle) {
    const { record, isNewDay, onOpen } = this.props;
    const shape = (text: string) => (isWrapped ? text : oneLine(text));
    const message = shape(record.message.slice(0, SHOWN_CHARACTERS));
    const context = shape(contextText(record).slice(0, Math.max(0, SHOWN_CHARACTERS - message.length)));
    const hidden = hiddenBytes(record);
    const timeMs = recordTime(record);
    return (
      <span class="row-message" {...CELL}>
        {isNewDay && timeMs !== undefined ? <b class="row-day">{formatDate(timeMs, zone)}</b> : null}
        <span class="row-text">
          <MessageText text={message} matcher={matcher} />
          {context ? (
            <span class="row-context">
              {' '}
              <MessageText text={context} matcher={matcher} />
            </span>
          ) : null}
        </span>
        {hidden > 0 ? (
          <button type="button" class="row-rest" tabIndex={-1} onClick={() => onOpen(record)}>
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
      {textPieces(text, matcher).map(({ text: piece, classes, colours, isMatch }, index) => {
        const inner = isMatch ? <mark key={index}>{piece}</mark> : piece;
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
