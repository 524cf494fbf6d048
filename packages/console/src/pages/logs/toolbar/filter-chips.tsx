import type { LogsView } from '../../../state/view.ts';

/** What else narrows the view, each with a way to be rid of it. */
export function FilterChips({ view, change }: { view: LogsView; change: (change: Partial<LogsView>) => void }) {
  const { excluded, callSite, component } = view;
  const conditions = [
    ...excluded.map((text) => ({
      text: `not ${text}`,
      rest: { excluded: excluded.filter((other) => other !== text) },
    })),
    ...(callSite === null ? [] : [{ text: `at ${callSite}`, rest: { callSite: null } }]),
    ...(component === null ? [] : [{ text: `[${component}]`, rest: { component: null } }]),
  ];
  if (conditions.length === 0) return null;
  return (
    <ul class="chips" aria-label="Conditions">
      {conditions.map(({ text, rest }) => (
        <li key={text} class="chip chip-condition">
          <span>{text}</span>
          <button type="button" aria-label={`Remove: ${text}`} onClick={() => change(rest)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
