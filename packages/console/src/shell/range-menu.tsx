import { preferences } from '../state/preferences.ts';
import type { TimeRange } from '../state/time-range.ts';
import { rangeText } from '../ui/format.ts';
import { useStore } from '../ui/hooks.ts';
import { lazy } from '../ui/lazy.tsx';
import { Menu } from '../ui/menu.tsx';

const RangeChoices = lazy(async () => (await import('./opened-later.ts')).RangeChoices);

interface RangeMenuProps {
  range: TimeRange | null;
  /** What no range means on the page. */
  fallback: TimeRange | null;
  onChange: (range: TimeRange | null) => void;
}

/** The time range, the same on all pages: relative, absolute, or all; and the zone in which times are shown. */
export function RangeMenu({ range: given, fallback, onChange }: RangeMenuProps) {
  const zone = useStore(preferences.zone);
  const range = given ?? fallback;
  const text = rangeText(range, zone);
  return (
    <Menu class="range-menu" label={`Time range: ${text}`} icon="clock" button={text}>
      {(close) => (
        <RangeChoices
          {...{ range, zone }}
          hasAll={fallback === null}
          onChoose={(chosen) => {
            close();
            onChange(chosen);
          }}
        />
      )}
    </Menu>
  );
}
