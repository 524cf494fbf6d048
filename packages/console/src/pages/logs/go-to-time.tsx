import { readTime } from '@porthole/contract';
import { useState } from 'preact/hooks';
import type { ZoneName } from '../../state/view.ts';
import { Button } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { timeInputClock } from '../../ui/format.ts';
import { TimeField } from '../../ui/time-field.tsx';

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
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (timeMs !== undefined) onGo(timeMs);
      }}
    >
      <TimeField
        label="Time"
        placeholder="14:05"
        hint="14:05 · yesterday 18:00 · 15m · 2026-11-15 14:05 · RFC 3339"
        autofocus
        {...{ text, zone }}
        isWrong={text.trim() !== '' && timeMs === undefined}
        onText={setText}
      />
      <div class="wrap dialog-buttons">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" class="is-primary" disabled={timeMs === undefined}>
          Go
        </Button>
      </div>
    </form>
  );
}
