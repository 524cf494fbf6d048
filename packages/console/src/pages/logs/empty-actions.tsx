import type { LogsView } from '../../state/view.ts';
import { ALL_LOGS } from '../../state/view.ts';
import { Button } from '../../ui/controls.tsx';

const { minLevel, query, text, isOnlyMatches, excluded, callSite, component, labels } = ALL_LOGS;
const NO_FILTERS = { minLevel, query, text, isOnlyMatches, excluded, callSite, component, labels };

/** Ways out of a view without records: each drops what may have hidden them. */
export function EmptyActions({ view, change }: { view: LogsView; change: (part: Partial<LogsView>) => void }) {
  const isFiltered = Object.entries(NO_FILTERS).some(
    ([name, none]) => String(view[name as keyof LogsView] ?? '') !== String(none ?? ''),
  );
  const ways = [
    ...(isFiltered ? [{ label: 'Without filters', part: NO_FILTERS }] : []),
    ...(view.sources.length > 0 ? [{ label: 'All logs', part: { sources: [] } }] : []),
    ...(view.range ? [{ label: 'All times', part: { range: null } }] : []),
    ...(view.at ? [{ label: 'Newest records', part: {} }] : []),
  ];
  return (
    <>
      {ways.map(({ label, part }) => (
        <Button key={label} onClick={() => change({ ...part, at: null, timeMs: null })}>
          {label}
        </Button>
      ))}
    </>
  );
}
