import {
  gapsText,
  type Incident,
  type IncidentStep,
  incidentHtml,
  incidentMarkdown,
  respondedText,
} from '@porthole/contract';
import { useMemo } from 'preact/hooks';
import { EventsCard } from '../../events/event-list.tsx';
import { loadEvents } from '../../events/load-events.ts';
import { MessageText } from '../../log-view/rows/record-row.tsx';
import { componentText, levelTone, pairsText } from '../../log-view/rows/record-text.ts';
import { incidentCommand } from '../../state/cli-command.ts';
import { copyText } from '../../state/notice.ts';
import { preferences } from '../../state/preferences.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { zoneOffsetMs } from '../../state/time-zone.ts';
import { ALL_LOGS, canFollow, closedRange, INCIDENTS, type IncidentsView, type ZoneName } from '../../state/view.ts';
import { nodeUrl, viewUrl } from '../../state/view-url.ts';
import { Card, NodeNames, Skeleton } from '../../ui/controls.tsx';
import { formatCount, formatDate, formatSecond, formatSpan, zoneLabel } from '../../ui/format.ts';
import { useResource, useStore } from '../../ui/hooks.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { PartialNote, ResourceNote } from '../../ui/notes.tsx';
import { saveContent } from '../../ui/start-download.ts';

/** It is made of some twenty requests, each of which scans logs. */
const INCIDENT_MS = 20_000;

const REFRESH_MS = 60_000;

const MAX_EVENTS = 12;

/** Shown around an event that is opened. */
const BEFORE_MS = 5 * 60_000;
const AFTER_MS = 10 * 60_000;

/** What happened in a time range: in its order, what stands out, and how it was before and after. */
export function IncidentsPage({ view }: { view: IncidentsView }) {
  const { incident, events } = useIncident(view);
  const { value } = useResource(incident);
  const known = value?.coverage.missing.flatMap(({ node }) => node ?? []) ?? [];
  return (
    <div class="stack">
      <ResourceNote resource={incident} what="The incident" loading="what happened on all nodes" />
      {value ? <IncidentHead incident={value} view={view} /> : <h1>What happened?</h1>}
      <div class="incident">
        {value ? <StepsCard incident={value} /> : <Skeleton height={320} />}
        <div class="stack">
          {value && value.standouts.length > 0 && <StandoutsCard incident={value} />}
          {value && <PhasesCard incident={value} />}
          {value && <CoverageCard incident={value} onRetry={() => incident.reload()} />}
          <EventsCard
            title="Events"
            {...{ events, known }}
            most={MAX_EVENTS}
            viewFor={(timeMs) => ({
              ...{ ...INCIDENTS, labels: view.labels },
              range: { kind: 'fixed', fromMs: timeMs - BEFORE_MS, toMs: timeMs + AFTER_MS },
            })}
          />
        </div>
      </div>
    </div>
  );
}

function useIncident({ range, labels }: IncidentsView) {
  return useMemo(() => {
    const selection = labels.length === 0 ? {} : { labels };
    const every = canFollow(range) ? { everyMs: REFRESH_MS } : {};
    const now = () => ({ ...selection, ...closedRange(range, Date.now()) });
    return {
      incident: new Resource<Incident>(
        (signal) => session.client.cluster.incident(now(), { signal, budgetMs: INCIDENT_MS }),
        every,
      ),
      events: new Resource((signal) => loadEvents(now(), signal), every),
    };
  }, [JSON.stringify([range, labels])]);
}

function IncidentHead({ incident, view }: { incident: Incident; view: IncidentsView }) {
  const zone = useStore(preferences.zone);
  const { headline, fromMs, toMs, lookedFromMs, lookedToMs, isOver } = incident;
  const isFound = fromMs !== null && toMs !== null;
  const [startMs, endMs] = isFound ? [fromMs, toMs] : [lookedFromMs, lookedToMs];
  const reportZone = { offsetMsAt: (timeMs: number) => zoneOffsetMs(zone, timeMs) };
  const link = viewUrl({ ...view, range: { kind: 'fixed', fromMs: lookedFromMs, toMs: lookedToMs } });
  return (
    <div class="flex wrap page-head">
      <div>
        <p class="dim">
          {isFound ? 'Incident' : 'Looked at'} · {formatDate(startMs, zone)}, {formatSecond(startMs, zone)} –{' '}
          {formatSecond(endMs, zone)} {zoneLabel(zone, startMs)} · {formatSpan(endMs - startMs)}
          {isFound && !isOver && ', not over'}
        </p>
        <h1>{headline}</h1>
      </div>
      <Menu label="Share" icon="share" button="Share">
        {(close) => {
          const item = (icon: IconName, text: string, run: () => void) => (
            <MenuItem
              icon={icon}
              onClick={() => {
                close();
                run();
              }}
            >
              {text}
            </MenuItem>
          );
          const markdown = () => incidentMarkdown(incident, reportZone);
          const html = () => new Blob([incidentHtml(incident, reportZone)], { type: 'text/html' });
          return (
            <>
              {item('link', 'Copy link', () => void copyText(location.origin + link, 'Link'))}
              {item('terminal', 'Copy as CLI', () => {
                void copyText(incidentCommand(view, { url: nodeUrl(location) }), 'Command');
              })}
              {item('copy', 'Copy as Markdown', () => void copyText(markdown(), 'Report'))}
              {item('download', 'Download as HTML', () => saveContent(html(), `${reportName(startMs)}.html`))}
            </>
          );
        }}
      </Menu>
    </div>
  );
}

/** `incident-2026-11-17T03-10` */
function reportName(timeMs: number): string {
  return `incident-${new Date(timeMs).toISOString().slice(0, 16).replace(':', '-')}`;
}

function StepsCard({ incident: { steps } }: { incident: Incident }) {
  const zone = useStore(preferences.zone);
  return (
    <Card id="steps-title" title="In the order it happened">
      {steps.length === 0 && <p class="dim wraps card-note">No events and no unusual records.</p>}
      <ol class="steps">
        {steps.map((step, index) => (
          <Step key={`${step.kind} ${step.timeMs} ${step.title}`} step={step} isFirst={index === 0} zone={zone} />
        ))}
      </ol>
    </Card>
  );
}

const STEP_SIGNS: Readonly<Record<string, { icon: IconName; tone: string }>> = {
  'first-error': { icon: 'flame', tone: 'is-err' },
  'new-pattern': { icon: 'flame', tone: 'is-err' },
  'log-burst': { icon: 'rise', tone: 'is-err' },
  spread: { icon: 'spread', tone: 'is-warn' },
  'config-changed': { icon: 'config', tone: 'is-accent' },
  'config-file-differs': { icon: 'config', tone: 'is-accent' },
  'version-changed': { icon: 'restart', tone: 'is-accent' },
  'member-lost': { icon: 'gone', tone: 'is-err' },
  killed: { icon: 'gone', tone: 'is-err' },
  'service-killed': { icon: 'gone', tone: 'is-err' },
  'disk-nearly-full': { icon: 'disk', tone: 'is-err' },
  'log-silent': { icon: 'silent', tone: 'is-warn' },
  'clock-stepped': { icon: 'clock', tone: 'is-warn' },
};

function Step({ step, isFirst, zone }: { step: IncidentStep; isFirst: boolean; zone: ZoneName }) {
  const { kind, timeMs, delayMs, uncertaintyMs, title, detail, changes, record, shares, nodes } = step;
  const { icon, tone } = STEP_SIGNS[kind] ?? { icon: 'restart', tone: '' };
  const isRecord = kind === 'first-error' || kind === 'spread' || kind === 'new-pattern';
  const at = record && { node: record.node, cursor: record.cursor };
  return (
    <li class="step">
      <div class="fixed step-time">
        <a class="mono" href={viewUrl({ ...ALL_LOGS, isLive: false, ...(isRecord && at ? { at } : { timeMs }) })}>
          {formatSecond(timeMs, zone)}
        </a>
        <span class="faint">
          {isFirst ? 'start' : `+${formatSpan(delayMs)}`}
          {uncertaintyMs > 0 && ` ± ${formatSpan(uncertaintyMs)}`}
        </span>
      </div>
      <span class={`fixed step-sign chip ${tone}`} aria-hidden="true">
        <Icon name={icon} />
      </span>
      <div class="grow step-body">
        <h3>{title}</h3>
        {changes.map(({ key, before, after }) => (
          <p key={key} class="mono wraps">
            {key}{' '}
            {before === undefined || after === undefined ? null : (
              <>
                <del>{before === null ? '–' : valueText(before)}</del> →{' '}
                <ins>{after === null ? '–' : valueText(after)}</ins>
              </>
            )}
          </p>
        ))}
        {isRecord && record && <StepRecord record={record} />}
        <p class="dim wraps">
          {[
            detail,
            ...shares.map(
              ({ field, value, count, of }) =>
                `${field}=${value} in ${count === of ? 'all' : count} of the first ${of}`,
            ),
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
        <NodeNames ids={nodes} most={6} />
      </div>
    </li>
  );
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function StepRecord({ record }: { record: NonNullable<IncidentStep['record']> }) {
  const [line = '', ...rest] = record.message.split('\n');
  const tone = levelTone(record.level);
  const context = pairsText(record).slice(0, 300);
  return (
    <p class="wraps step-record mono">
      <b class={tone === 'warning' ? 'warning' : tone === 'error' || tone === 'fatal' ? 'problem' : 'dim'}>
        {record.level}
      </b>{' '}
      <span class="dim">{componentText(record)}</span> <MessageText text={line.slice(0, 500)} matcher={null} />
      {rest.length > 0 && <span class="fixed dim row-more">+{rest.length} lines</span>}{' '}
      <span class="faint">{context}</span>
    </p>
  );
}

function StandoutsCard({ incident: { standouts } }: { incident: Incident }) {
  return (
    <Card id="standouts-title" title="What stands out" aside={<span class="faint">most unusual first</span>}>
      <ol class="card-list">
        {standouts.map(({ title, detail, score, shares, timeMs, pattern, counts }, index) => {
          const common = shares.map(({ field, value }) => `${field}=${value}`).join(', ');
          const tip = counts
            ? `${formatCount(counts.during)} in ${formatSpan(counts.duringMs)}, ${formatCount(counts.before)} in ${formatSpan(counts.beforeMs)} before\nG² ${counts.ratioBefore} against before, ${counts.ratioOthers} against the other nodes`
            : undefined;
          const view = { ...ALL_LOGS, isLive: false, timeMs, callSite: pattern?.includes(':') ? pattern : null };
          return (
            <li key={title}>
              <a class="card-row standout" href={viewUrl(view)}>
                <span class="chip">{index + 1}</span>
                <span class="grow wraps">
                  {title}
                  <span class="dim event-detail">
                    {[detail, common && `mostly ${common}`].filter(Boolean).join(' · ')}
                  </span>
                </span>
                <span class="fixed small col standout-score" data-tip={tip}>
                  <span class="bar-track" aria-hidden="true">
                    <i style={{ width: `${Math.round(score)}%` }} />
                  </span>
                  <span class="faint">{Math.round(score)}</span>
                </span>
              </a>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

function PhasesCard({ incident: { before, during, after, isUnusual } }: { incident: Incident }) {
  const phases = [before, during, after];
  const rate = (pick: 'errors' | 'warnings' | 'records') => (phase: typeof during) => {
    const value = phase[pick] / (Math.max(1000, phase.toMs - phase.fromMs) / 60_000);
    return value >= 10 ? formatCount(Math.round(value)) : value.toFixed(value >= 1 || value === 0 ? 0 : 1);
  };
  const rows: [string, (phase: typeof during) => string][] = [
    ['errors/min', rate('errors')],
    ['warnings/min', rate('warnings')],
    ['records/min', rate('records')],
    ['nodes', ({ nodes }) => String(nodes)],
  ];
  return (
    <Card id="phases-title" title="Before, during, after">
      <table class="phases mono">
        <thead>
          <tr>
            <th scope="col">
              <span class="sr-only">Rate</span>
            </th>
            <th scope="col">before</th>
            <th scope="col">during</th>
            <th scope="col">after</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, text]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {phases.map((phase, index) => (
                <td key={index} class={index === 1 && name === 'errors/min' && isUnusual ? 'problem' : ''}>
                  {phase ? text(phase) : '–'}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function CoverageCard({ incident, onRetry }: { incident: Incident; onRetry: () => void }) {
  const { coverage, members, requests } = incident;
  if (gapsText(coverage) !== '') return <PartialNote answer={{ coverage, members }} onRetry={onRetry} />;
  return (
    <p class="card card-row">
      <span class="ok">
        <Icon name="check" />
      </span>
      {respondedText(members)} to {requests} requests; nothing in this time range is left out.
    </p>
  );
}
