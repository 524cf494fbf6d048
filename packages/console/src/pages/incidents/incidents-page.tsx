import { absenceText, coverageOf } from '@porthole/contract';
import { eventClass, groupEvents } from '../../events/event-text.ts';
import { loadEvents } from '../../events/load-events.ts';
import { preferences } from '../../state/preferences.ts';
import { canFollow, closedRange, LAST_HOUR } from '../../state/time-range.ts';
import { INCIDENTS, type IncidentsView, type ZoneName } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Chip, Skeleton } from '../../ui/controls.tsx';
import { formatCounted, formatDate, formatMinute, formatSecond, formatSpan } from '../../ui/format.ts';
import { useLoaded, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { LoadedNote } from '../../ui/notes.tsx';
import { CoverageNote, IncidentReport } from './incident-report.tsx';

const REFRESH_MS = 60_000;

const DAY = { kind: 'last', spanMs: 86_400_000 } as const;

/** Events less than this apart belong together, as in a report. */
const APART_MS = 5 * 60_000;

/** Looked at before the first and after the last of them. */
const AROUND_MS = 5 * 60_000;

/** More of them are a count; losses and errors are shown first. */
const MAX_LINES = 8;

/** What kinds of events are counted as, in this order: one, and several. */
const WORDS: readonly (readonly [kinds: RegExp, one: string, several: string])[] = [
  [/^(log-burst|new-pattern)$/, 'burst', 'bursts'],
  [/lost$|killed$|^recorder-stopped$/, 'loss', 'losses'],
  [/started$|stopped$|^member-(back|left)$|^version-changed$/, 'restart', 'restarts'],
  [/^config-/, 'change', 'changes'],
  [/./, 'warning', 'warnings'],
];

type EventGroup = ReturnType<typeof groupEvents>[number];

/** What happened in a closed time range, in its order; in another one, what happened when. */
export function IncidentsPage({ view }: { view: IncidentsView }) {
  return canFollow(view.range) ? <IncidentList view={view} /> : <IncidentReport view={view} />;
}

/** Bursts, losses, restarts and changes; what is close together is one entry, which leads to its report. */
function IncidentList({ view }: { view: IncidentsView }) {
  const { range, labels } = view;
  const events = useLoaded(
    JSON.stringify([range, labels]),
    (signal) => loadEvents({ ...(labels.length > 0 && { labels }), ...closedRange(range, Date.now()) }, signal),
    { everyMs: REFRESH_MS },
  );
  const { value, failure } = events;
  const zone = useStore(preferences.zone);
  const { fromMs, toMs } = closedRange(range, Date.now());
  const found = stretchesOf(groupEvents(value?.events ?? []));
  const unusual = found.filter((own) => own.some(({ tone }) => tone === 'err')).length;
  const title =
    unusual > 0
      ? formatCounted(unusual, 'incident')
      : value
        ? absenceText('No incident', coverageOf(value))
        : 'Incidents';
  const spanMs = toMs - fromMs;
  const span = spanMs === LAST_HOUR.spanMs ? 'hour' : spanMs === DAY.spanMs ? '24 h' : formatSpan(spanMs);
  return (
    <div class="stack">
      <div class="flex wrap page-head">
        <div>
          <h1>{title}</h1>
          <p class="dim">
            {[`in the last ${span}`, ...countsText(found.flat())].join(' · ')}
            {spanMs < DAY.spanMs && (
              <>
                {' · '}
                <a href={viewUrl({ ...view, range: DAY })}>last 24 h</a>
              </>
            )}
          </p>
        </div>
        <a class="button is-primary" href={viewUrl({ ...view, range: { kind: 'fixed', fromMs, toMs } })}>
          <Icon name="incidents" />
          What happened?
        </a>
      </div>
      <LoadedNote loaded={events} what="The events" />
      {value && <CoverageNote response={value} onRetry={events.reload} />}
      {!value && !failure && <Skeleton height={240} />}
      {value && found.length === 0 && (
        <p class="card card-note dim">
          {absenceText('No burst of errors, loss, restart or change of a setting', coverageOf(value))}.
        </p>
      )}
      {found.length > 0 && (
        <ol class="card card-list">
          {found.map((own) => (
            <li key={own[0]?.key}>
              <Stretch events={own} {...{ labels, zone }} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function Stretch({ events, labels, zone }: { events: EventGroup[]; zone: ZoneName } & Pick<IncidentsView, 'labels'>) {
  const times = events.map(({ timeMs }) => timeMs);
  const firstMs = Math.min(...times);
  const lastMs = Math.max(...times);
  const href = viewUrl({
    ...INCIDENTS,
    labels,
    range: { kind: 'fixed', fromMs: firstMs - AROUND_MS, toMs: lastMs + AROUND_MS },
  });
  const isUnusual = events.some(({ tone }) => tone === 'err');
  const worstFirst = events.toSorted((a, b) => Number(b.tone === 'err') - Number(a.tone === 'err'));
  const shown = events.filter((event) => worstFirst.indexOf(event) < MAX_LINES);
  return (
    <a class="card-row wrap incident-row" href={href}>
      <span class="fixed incident-time">
        <b class="mono">
          {formatMinute(firstMs, zone)}
          {lastMs - firstMs >= 60_000 && ` – ${formatMinute(lastMs, zone)}`}
        </b>
        <span class="faint small">{formatDate(firstMs, zone)}</span>
      </span>
      <span class="grow col">
        {shown.map((event) => (
          <span key={event.key} class="flex wraps incident-line">
            <span class={`flex fixed ${eventClass(event)}`}>
              <Icon name={event.icon} />
            </span>
            <span>
              <b>{event.nodes.length <= 3 ? event.nodes.join(', ') : `${event.nodes.length} nodes`}</b> {event.title}
              <span class="dim"> {[event.detail, formatSecond(event.timeMs, zone)].filter(Boolean).join(' · ')}</span>
            </span>
          </span>
        ))}
        {events.length > MAX_LINES && <span class="faint">{events.length - MAX_LINES} more</span>}
      </span>
      <span class="chips">
        {countsText(events).map((text) => (
          <Chip key={text} tone={isUnusual && /burst|loss/.test(text) ? 'err' : undefined}>
            {text}
          </Chip>
        ))}
      </span>
    </a>
  );
}

/** Events that are close together, each in the order of time; the newest first. */
function stretchesOf(newestFirst: readonly EventGroup[]): EventGroup[][] {
  const stretches: EventGroup[][] = [];
  for (const event of newestFirst) {
    const last = stretches.at(-1);
    if (last?.[0] && last[0].timeMs - event.timeMs < APART_MS) last.unshift(event);
    else stretches.push([event]);
  }
  return stretches;
}

/** `3 bursts`, `1 loss` */
function countsText(events: readonly EventGroup[]): string[] {
  const words = events.map(({ kind }) => WORDS.find(([kinds]) => kinds.test(kind))?.[1]);
  return WORDS.flatMap(([, one, several]) => {
    const count = words.filter((word) => word === one).length;
    return count === 0 ? [] : `${count} ${count === 1 ? one : several}`;
  });
}
