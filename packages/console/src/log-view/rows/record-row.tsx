import { Component } from 'preact';
import { nodeColour } from '../../state/cluster.ts';
import { formatBytes, formatDate, formatTime } from '../../ui/format.ts';
import type { ShownRecord } from '../source/log-source.ts';
import { CELL, FOCUSED_ROW, ROW } from './grid-roles.ts';
import { MessageText } from './message-text.tsx';
import {
  contextText,
  hiddenBytes,
  levelLetter,
  levelTone,
  oneLine,
  recordTime,
  SHOWN_CHARACTERS,
  tagsText,
  visibleText,
} from './record-text.ts';
import type { RowStyle } from './row-style.ts';

export interface RecordRowProps {
  id: string;
  record: ShownRecord;
  rowStyle: RowStyle;
  isFocused: boolean;
  isContext: boolean;
  /** Its day is not that of the record before it. */
  isNewDay: boolean;
  onOpen: (record: ShownRecord) => void;
}

/** One record. Drawn again only when something of it has changed: while following, most rows stay as they are. */
export class RecordRow extends Component<RecordRowProps> {
  override shouldComponentUpdate(next: Readonly<RecordRowProps>): boolean {
    const now = this.props;
    return (Object.keys(next) as (keyof RecordRowProps)[]).some((name) => next[name] !== now[name]);
  }

  override render({ id, record, rowStyle: look, isFocused, isContext }: RecordRowProps) {
    const classes = ['row', `row-${levelTone(record.level)}`, `node-${nodeColour(record.node)}`];
    if (isFocused) classes.push('is-focused');
    if (isContext) classes.push('is-context');
    return (
      <div id={id} class={classes.join(' ')} {...(isFocused ? FOCUSED_ROW : ROW)}>
        {this.#head()}
        <span class="row-source" {...CELL} title={record.source}>
          {record.source ? visibleText(record.source.slice(0, 200)) : ''}
        </span>
        <span class="row-tags" {...CELL}>
          {visibleText(tagsText(record).slice(0, 200))}
        </span>
        {this.#message(look)}
      </div>
    );
  }

  #head() {
    const { record, rowStyle: look } = this.props;
    const timeMs = recordTime(record);
    return (
      <>
        <span class="row-time" {...CELL} title={timeMs === undefined ? 'no time' : new Date(timeMs).toISOString()}>
          {timeMs === undefined ? '' : formatTime(timeMs, look.zone)}
          {record.continued ? <span title="The line goes on">⋯</span> : null}
          {record.isUnsure ? <i title="Which of this and the line before was first is not sure">≈</i> : null}
        </span>
        <span class="row-level" {...CELL} title={record.level}>
          {levelLetter(record.level)}
        </span>
        {look.withNode ? (
          <span class="row-node" {...CELL}>
            {record.node}
          </span>
        ) : null}
      </>
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
