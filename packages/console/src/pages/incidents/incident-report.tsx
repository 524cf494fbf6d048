import {
  type Incident,
  type IncidentPhase,
  type IncidentStep,
  incidentHtml,
  incidentMarkdown,
  isPhaseKnown,
  type ResponseFacts,
  respondedText,
  type Standout,
} from '@porthole/contract';
import { useState } from 'preact/hooks';
import { type KindStyle, STYLES } from '../../events/event-text.ts';
import { MessageText } from '../../log-view/rows/record-row.tsx';
import { componentText, levelTone, pairsText } from '../../log-view/rows/record-text.ts';
import { incidentCommand } from '../../state/cli-command.ts';
import { copyText } from '../../state/notice.ts';
import { preferences } from '../../state/preferences.ts';
import { session } from '../../state/session.ts';
import { closedRange } from '../../state/time-range.ts';
import { zoneOffsetMs } from '../../state/time-zone.ts';
import { ALL_LOGS, INCIDENTS, type IncidentsView } from '../../state/view.ts';
import { nodeUrl, viewUrl } from '../../state/view-url.ts';
import { Button, Card, NodeNames, Skeleton } from '../../ui/controls.tsx';
import {
  formatCount,
  formatCounted,
  formatDate,
  formatSecond,
  formatSpan,
  recordedText,
  zoneLabel,
} from '../../ui/format.ts';
import { useLoaded, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { LoadedNote, PartialNote, RecordedNote } from '../../ui/notes.tsx';
import { saveContent } from '../../ui/start-download.ts';

/** It is made of some twenty requests, each of which scans logs. */
const INCIDENT_MS = 20_000;

/** Ranked lower, the others are behind a button. */
const MAX_STANDOUTS = 5;

/** Steps that are no events. */
const OTHER_STEPS: Readonly<Record<'first-error' | 'spread', Pick<KindStyle, 'icon' | 'tone'>>> = {
  'first-error': { icon: 'flame', tone: 'err' },
  spread: { icon: 'spread', tone: 'warn' },
};

/** What happened in a time range: in its order, what stands out, and how it was before and after. */
export function IncidentReport({ view }: { view: IncidentsView }) {
  const { range, labels } = view;
  const incident = useLoaded(JSON.stringify([range, labels]), (signal) => {
    const request = { ...(labels.length > 0 && { labels }), ...closedRange(range, Date.now()) };
    return session.client.incident({ nodes: ['*'], ...request }, { signal, budgetMs: INCIDENT_MS });
  });
  const { value, failure } = incident;
  return (
    <div class="stack">
      {value ? <IncidentHead incident={value} view={view} /> : <h1>What happened?</h1>}
      <LoadedNote loaded={incident} what="The incident" loading="what happened on all nodes" />
      {!value && !failure && (
        <div class="incident">
          <Skeleton height={480} />
          <Skeleton height={320} />
        </div>
      )}
      {value && (
        <div class="incident">
          <StepsCard incident={value} />
          <div class="stack">
            {value.standouts.length > 0 && <StandoutsCard standouts={value.standouts} />}
            <PhasesCard incident={value} />
            <CoverageNote response={value} onRetry={incident.reload} />
            {value.coverage.isComplete && (
              <p class="card card-row dim">
                <span class="ok">
                  <Icon name="check" />
                </span>
                {respondedText(value.members)} to {value.requests} requests; nothing in this time range is left out.
              </p>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

function IncidentHead({ incident, view }: { incident: Incident; view: IncidentsView }) {
  const zone = useStore(preferences.zone);
  const { headline, fromMs, toMs, lookedFromMs, lookedToMs, isOver, steps } = incident;
  const isFound = fromMs !== null && toMs !== null;
  const [startMs, endMs] = isFound ? [fromMs, toMs] : [lookedFromMs, lookedToMs];
  const reportZone = { offsetMsAt: (timeMs: number) => zoneOffsetMs(zone, timeMs) };
  const link = viewUrl({ ...view, range: { kind: 'fixed', fromMs: lookedFromMs, toMs: lookedToMs } });
  const html = () => new Blob([incidentHtml(incident, reportZone)], { type: 'text/html' });
  // `incident-2026-11-17T03-10.html`
  const name = `incident-${new Date(startMs).toISOString().slice(0, 16).replace(':', '-')}.html`;
  return (
    <div class="flex wrap page-head">
      <div>
        <p class="dim">
          <a href={viewUrl({ ...INCIDENTS, labels: view.labels })}>Incidents</a> · {isFound ? '' : 'looked at '}
          {formatDate(startMs, zone)}, {formatSecond(startMs, zone)} – {formatSecond(endMs, zone)}{' '}
          {zoneLabel(zone, startMs)} · {formatSpan(endMs - startMs)}
          {isFound && !isOver && ', not over'}
        </p>
        <h1>
          <Headline text={headline} keys={steps.flatMap(({ changes }) => changes.map(({ key }) => key))} />
        </h1>
      </div>
      <Menu icon="share" button="Share">
        {(close) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a button is a click, too
          // biome-ignore lint/a11y/noStaticElementInteractions: the buttons in it are pressed
          <div onClick={close}>
            <MenuItem icon="link" onClick={() => void copyText(location.origin + link, 'Link')}>
              Copy link
            </MenuItem>
            <MenuItem
              icon="terminal"
              onClick={() => void copyText(incidentCommand(view, { url: nodeUrl(location) }), 'Command')}
            >
              Copy as CLI
            </MenuItem>
            <hr />
            <MenuItem icon="copy" onClick={() => void copyText(incidentMarkdown(incident, reportZone), 'Report')}>
              Copy as Markdown
            </MenuItem>
            <MenuItem icon="file" onClick={() => saveContent(html(), name)}>
              Download as HTML
            </MenuItem>
          </div>
        )}
      </Menu>
    </div>
  );
}

/** A headline in which the keys of settings look like keys. */
function Headline({ text, keys }: { text: string; keys: readonly string[] }) {
  const key = keys.find((one) => text.includes(one));
  if (key === undefined) return <>{text}</>;
  const at = text.indexOf(key);
  return (
    <>
      {text.slice(0, at)}
      <code>{key}</code>
      {text.slice(at + key.length)}
    </>
  );
}

function StepsCard({ incident }: { incident: Incident }) {
  const { steps } = incident;
  return (
    <Card id="steps-title" title="In the order it happened">
      {steps.length === 0 && <p class="dim wraps card-note">No events and no unusual records.</p>}
      <ol class="steps">
        {steps.map((step) => (
          <Step key={`${step.kind} ${step.timeMs} ${step.title}`} {...{ step, incident }} isFirst={step === steps[0]} />
        ))}
      </ol>
    </Card>
  );
}

function Step({ step, incident, isFirst }: { step: IncidentStep; incident: Incident; isFirst: boolean }) {
  const zone = useStore(preferences.zone);
  const { kind, timeMs, delayMs, uncertaintyMs, title, detail, changes, record, shares, nodes } = step;
  const { icon, tone } = kind === 'first-error' || kind === 'spread' ? OTHER_STEPS[kind] : STYLES[kind];
  const isRecord = kind === 'first-error' || kind === 'spread' || kind === 'new-pattern';
  const shownTone = isRecord && record?.level === 'WARN' ? 'warn' : tone;
  // Recorded lines of a node that is gone are found by their time.
  const isThere = incident.members.some(({ id, outcome }) => id === record?.node && outcome === 'ok');
  const at = record && isThere && { node: record.node, cursor: record.cursor };
  const facts = [
    detail,
    ...shares.map(
      (own) => `${own.field}=${own.value} in ${own.count === own.of ? 'all' : own.count} of the first ${own.of}`,
    ),
  ];
  const recorded =
    kind === 'member-lost' ? incident.members.filter(({ id, asOfMs }) => nodes.includes(id) && asOfMs !== null) : [];
  return (
    <li class="step">
      <div class="fixed step-time">
        <a class="mono" href={viewUrl({ ...ALL_LOGS, isLive: false, ...(isRecord && at ? { at } : { timeMs }) })}>
          {formatSecond(timeMs, zone)}
        </a>
        <span class="faint">{isFirst ? 'start' : `+${formatSpan(delayMs)}`}</span>
        {uncertaintyMs > 0 && <span class="faint">± {formatSpan(uncertaintyMs)}</span>}
      </div>
      <span class={`fixed step-sign chip ${shownTone ? `is-${shownTone}` : ''}`} aria-hidden="true">
        <Icon name={icon} />
      </span>
      <div class="grow step-body">
        <h3>{title}</h3>
        {changes.map(({ key, before, after }) => (
          <p key={key} class="mono wraps">
            {key}{' '}
            {before === undefined || after === undefined ? null : (
              <>
                <del>{valueText(before)}</del> → <ins>{valueText(after)}</ins>
              </>
            )}
          </p>
        ))}
        {isRecord && record && <StepRecord record={record} />}
        <p class="dim wraps">{facts.filter(Boolean).join(' · ')}</p>
        {recorded.map((own) => (
          <p key={own.id} class="dim wraps">
            {recordedText({ ...own, asOfMs: own.asOfMs ?? 0 }, zone)}
          </p>
        ))}
        {!nodes.every((id) => title.includes(id)) && <NodeNames ids={nodes} most={6} />}
      </div>
    </li>
  );
}

function valueText(value: unknown): string {
  return value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
}

function StepRecord({ record }: { record: NonNullable<IncidentStep['record']> }) {
  const [line = '', ...rest] = record.message.split('\n');
  const tone = levelTone(record.level);
  return (
    <p class="wraps step-record mono">
      <b class={tone === 'warning' ? 'warning' : tone === 'error' || tone === 'fatal' ? 'problem' : 'dim'}>
        {record.level}
      </b>{' '}
      <span class="dim">{componentText(record)}</span> <MessageText text={line.slice(0, 500)} matcher={null} />
      {rest.length > 0 && <span class="chip step-more">+{formatCounted(rest.length, 'line')}</span>}{' '}
      <span class="faint">{pairsText(record).slice(0, 300)}</span>
    </p>
  );
}

function StandoutsCard({ standouts }: { standouts: readonly Standout[] }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <Card id="standouts-title" title="What stands out" aside={<span class="faint">most unusual first</span>}>
      <ol class="card-list">
        {standouts.slice(0, isWhole ? undefined : MAX_STANDOUTS).map((standout, index) => (
          <li key={standout.title}>
            <StandoutRow standout={standout} rank={index + 1} />
          </li>
        ))}
      </ol>
      {!isWhole && standouts.length > MAX_STANDOUTS && (
        <p class="card-note">
          <Button class="is-quiet" onClick={() => setWhole(true)}>
            {standouts.length - MAX_STANDOUTS} more
          </Button>
        </p>
      )}
    </Card>
  );
}

function StandoutRow({ standout, rank }: { standout: Standout; rank: number }) {
  const { title, detail, score, shares, timeMs, pattern, counts } = standout;
  const common = shares.map(({ field, value }) => `${field}=${value}`).join(', ');
  const tip = counts
    ? `${formatCount(counts.during)} in ${formatSpan(counts.duringMs)}, ${formatCount(counts.before)} in ${formatSpan(counts.beforeMs)} before\nG² ${counts.ratioBefore} against before, ${counts.ratioOthers} against the other nodes`
    : undefined;
  const view = { ...ALL_LOGS, isLive: false, timeMs, callSite: pattern?.includes(':') ? pattern : null };
  return (
    <a class="card-row standout" href={viewUrl(view)}>
      <span class="chip">{rank}</span>
      <span class="grow wraps">
        {title}
        <br />
        <span class="dim">{[detail, common && `mostly ${common}`].filter(Boolean).join(' · ')}</span>
      </span>
      <span class="fixed small col standout-score" data-tip={tip}>
        <span class="bar-track" aria-hidden="true">
          <i style={{ width: `${Math.round(score)}%` }} />
        </span>
        <span class="faint">{Math.round(score)}</span>
      </span>
    </a>
  );
}

function PhasesCard({ incident }: { incident: Incident }) {
  const { before, during, after, isUnusual } = incident;
  const phases = { before, during, after };
  const perMinute = (phase: IncidentPhase, count: number) => {
    const value = count / (Math.max(1000, phase.toMs - phase.fromMs) / 60_000);
    return value >= 10 ? formatCount(Math.round(value)) : value.toFixed(value >= 1 || value === 0 ? 0 : 1);
  };
  const rows: Record<string, (phase: IncidentPhase) => string> = {
    'errors/min': (phase) => perMinute(phase, phase.errors),
    'warnings/min': (phase) => perMinute(phase, phase.warnings),
    'records/min': (phase) => perMinute(phase, phase.records),
    nodes: ({ nodes }) => String(nodes),
  };
  const isKnown = (phase: IncidentPhase | null): phase is IncidentPhase =>
    phase !== null && isPhaseKnown(incident, phase);
  const isBad = (row: string, phase: IncidentPhase | null) =>
    isKnown(phase) &&
    (row === 'nodes'
      ? before !== null && phase.nodes < before.nodes
      : row === 'errors/min' && phase === during && isUnusual);
  return (
    <Card id="phases-title" title="Before, during, after">
      <table class="phases mono">
        <thead>
          <tr>
            <th scope="col">
              <span class="sr-only">Rate</span>
            </th>
            {Object.keys(phases).map((name) => (
              <th key={name} scope="col" children={name} />
            ))}
          </tr>
        </thead>
        <tbody>
          {Object.entries(rows).map(([row, text]) => (
            <tr key={row}>
              <th scope="row">{row}</th>
              {Object.values(phases).map((phase, index) => (
                <td
                  key={index}
                  class={isBad(row, phase) ? 'problem' : ''}
                  children={isKnown(phase) ? text(phase) : '–'}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** What is missing in a response; what was recorded of a dead node is said in one sentence. */
export function CoverageNote({ response, onRetry }: { response: ResponseFacts; onRetry: () => void }) {
  const recorded = (response.members ?? []).filter(({ recordedBy, asOfMs }) => recordedBy && asOfMs !== null);
  return (
    <>
      <PartialNote response={response} known={recorded.map(({ id }) => id)} onRetry={onRetry} />
      {recorded.map((report) => (
        <RecordedNote key={report.id} {...{ report, onRetry }} />
      ))}
    </>
  );
}
