import { useId } from 'preact/hooks';
import type { ZoneName } from '../state/view.ts';
import { TextInput } from './controls.tsx';
import { timeInputClock, timePreview } from './format.ts';

interface TimeFieldProps {
  label: string;
  text: string;
  zone: ZoneName;
  placeholder: string;
  /** Shown while nothing is typed. */
  hint?: string;
  isWrong?: boolean;
  autofocus?: boolean;
  onText: (text: string) => void;
}

/** A typed time, and how it is read, or what is wrong with it. */
export function TimeField({ label, text, zone, hint = '', isWrong = false, onText, ...props }: TimeFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="field">
        {label}
        <TextInput value={text} aria-invalid={isWrong} aria-describedby={id} onText={onText} {...props} />
      </label>
      <output id={id} class={isWrong ? 'field-problem' : 'dim'}>
        {timePreview(text, timeInputClock(zone, Date.now()), zone) || hint}
      </output>
    </div>
  );
}
