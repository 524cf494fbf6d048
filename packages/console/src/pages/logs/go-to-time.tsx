import { readTime } from '@porthole/contract';
import { useState } from 'preact/hooks';
import type { ZoneName } from '../../state/view.ts';
import { Button, TextInput } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { timeInputClock, timePreview } from '../../ui/format.ts';

interface GoToTimeProps {
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
  const reading = readTime(text, timeInputClock(zone, Date.now()));
  const timeMs = 'timeMs' in reading ? reading.timeMs : undefined;
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
        <TextInput
          autofocus
          value={text}
          placeholder="14:05"
          aria-invalid={isWrong}
          aria-describedby="go-to-time-hint"
          onText={setText}
        />
      </label>
      <p id="go-to-time-hint" class={isWrong ? 'field-problem' : 'dim'} role="status">
        {timePreview(text, timeInputClock(zone, Date.now()), zone) ||
          '14:05 · yesterday 18:00 · 15m · 2026-11-15 14:05 · RFC 3339'}
      </p>
      <div class="wrap dialog-buttons">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" class="is-primary" disabled={timeMs === undefined}>
          Go
        </Button>
      </div>
    </form>
  );
}
