import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { oneLine, visibleText } from '../../../log-view/rows/record-text.ts';
import type { PickedValues } from '../../../log-view/rows/row-values.ts';
import { copyText } from '../../../state/notice.ts';
import type { LogsView } from '../../../state/view.ts';
import { fieldActions, valueActions } from './field-actions.ts';

/** Distance to the edges of the window. */
const MARGIN_PX = 8;

interface ValueMenuProps {
  picked: PickedValues;
  view: LogsView;
  change: (change: Partial<LogsView>) => void;
  /** The user went on elsewhere. */
  onLeave: () => void;
  /** The focus goes back to the rows. */
  onClose: () => void;
}

/** What can be done with a clicked value, beside it. */
export function ValueMenu({ picked, view, change, onLeave, onClose }: ValueMenuProps) {
  const box = useRef<HTMLElement>(null);
  usePlacing(box, picked);
  useLeaving(box, onLeave);
  const { field, values } = picked;
  const run = (act: () => void) => () => {
    onClose();
    act();
  };
  const ofField = fieldActions(field, { view, change });
  return (
    <section
      ref={box}
      class="menu-body value-menu"
      aria-label={`Values of ${visibleText(field)}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      {values.map((value, index) => (
        <div key={index} class="value-group">
          <p title={visibleText(value)}>
            <span class="dim">{visibleText(field)}</span> {oneLine(visibleText(value.slice(0, 200)))}
          </p>
          {valueActions(field, value, { view, change })
            .filter(({ kind }) => kind === 'include' || kind === 'exclude')
            .map(({ kind, label, run: act }) => (
              <button key={kind} type="button" onClick={run(act)}>
                {label}
              </button>
            ))}
          <button type="button" onClick={run(() => void copyText(value, 'Value'))}>
            Copy value
          </button>
        </div>
      ))}
      {ofField.map(({ kind, label, run: act }) => (
        <button key={kind} type="button" onClick={run(act)}>
          {label}
        </button>
      ))}
    </section>
  );
}

/** Below what was clicked, or above it where there is more room; within the window. */
function usePlacing(box: { current: HTMLElement | null }, { at }: PickedValues): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { width, height } = element.getBoundingClientRect();
    const left = Math.max(MARGIN_PX, Math.min(at.x, innerWidth - width - MARGIN_PX));
    const top = Math.max(MARGIN_PX, Math.min(at.y, innerHeight - height - MARGIN_PX));
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
    element.querySelector('button')?.focus();
  }, [at]);
}

/** A press elsewhere closes it, as does leaving it by Tab. */
function useLeaving(box: { current: HTMLElement | null }, onLeave: () => void): void {
  const latest = useRef(onLeave);
  latest.current = onLeave;
  useEffect(() => {
    const leave = ({ target }: Event) => {
      if (!(target instanceof Node && box.current?.contains(target))) latest.current();
    };
    const events = ['pointerdown', 'focusin', 'wheel'] as const;
    for (const name of events) document.addEventListener(name, leave);
    return () => {
      for (const name of events) document.removeEventListener(name, leave);
    };
  }, []);
}
