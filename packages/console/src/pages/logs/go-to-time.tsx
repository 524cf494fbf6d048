import { useState } from 'preact/hooks';
import { parseMoment } from '../../log-view/parse-moment.ts';
import type { ZoneName } from '../../state/view.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { formatDate, formatTime } from '../../ui/format.ts';
import { momentClock } from './moment-clock.ts';

export interface GoToTimeProps {
  isOpen: boolean;
  zone: ZoneName;
  onGo: (timeMs: number) => void;
  onClose: () => void;
}

export function GoToTime(props: GoToTimeProps) {
  return (
    <Dialog title="Go to a time" class="go-to-time" isOpen={props.isOpen} onClose={props.onClose}>
      <GoToTimeForm {...props} />
    </Dialog>
  );
}

function GoToTimeForm({ zone, onGo, onClose }: GoToTimeProps) {
  const [text, setText] = useState('');
  const timeMs = parseMoment(text, momentClock(zone, Date.now()));
  const isWrong = text.trim() !== '' && timeMs === undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (timeMs !== undefined) onGo(timeMs);
      }}
    >
      <label class="field">
        Time
        <input
          autofocus
          value={text}
          placeholder="14:05"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={isWrong}
          aria-describedby="go-to-time-hint"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p id="go-to-time-hint" class={isWrong ? 'field-problem' : 'dim'} role="status">
        {timeMs === undefined
          ? '14:05 · 14:05:30 · 2026-11-15 14:05 · -15m · ISO 8601'
          : `${formatDate(timeMs, zone)} ${formatTime(timeMs, zone)}`}
      </p>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button button-primary" disabled={timeMs === undefined}>
          Go
        </button>
      </div>
    </form>
  );
}
