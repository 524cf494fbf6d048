import type { ClusterConfigDiff } from '@porthole/client';
import { absenceText, coverageOf, respondedText } from '@porthole/contract';
import { useMemo } from 'preact/hooks';
import { type AfterRow, loadAfter, otherValues } from '../../config/after-change.ts';
import { diffLines, unifiedText } from '../../config/line-diff.ts';
import {
  loadVersions,
  matchesVersion,
  type NodeConfigState,
  type Version,
  versionAt,
} from '../../config/node-config.ts';
import { explainKey, tomlLines } from '../../config/toml-text.ts';
import { eventClass } from '../../events/event-text.ts';
import { navigation } from '../../state/navigation.ts';
import { copyText } from '../../state/notice.ts';
import { session } from '../../state/session.ts';
import { ALL_CONFIG, type ConfigView, INCIDENTS } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Button, Chip, Skeleton } from '../../ui/controls.tsx';
import { formatCount, formatCounted, formatSpan } from '../../ui/format.ts';
import { useLoaded, useMedia, useNow } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { FailureNote, PartialNote } from '../../ui/notes.tsx';
import { DiffLines, TextLines } from './code-lines.tsx';
import { useWhen } from './config-parts.tsx';

/** Shown after a change; the incident page has all of it. */
const MAX_AFTER = 6;

/** Keys whose values on other nodes are listed. */
const MAX_KEYS = 5;

/** The time range of an incident that is opened, around the change and what came after it. */
const BEFORE_MS = 5 * 60_000;
const LATER_MS = 20 * 60_000;

const REFRESH_MS = 60_000;

interface HistoryTabProps {
  state: NodeConfigState;
  view: ConfigView;
  diff: ClusterConfigDiff | null;
}

/** The versions of a node's configuration, what one of them changed, and what happened then. */
export function HistoryTab({ state, view, diff }: HistoryTabProps) {
  const { id, versions, historyProblem } = state;
  const found = versions.filter((version) => view.text === '' || matchesVersion(version, view.text));
  const version = versionAt(found, view.atMs);
  const heading = <h1 class="sr-only">Configuration of {id}: history</h1>;
  if (!version)
    return (
      <div class="config-body">
        {heading}
        <p class="card card-note dim" role="status">
          {versions.length > 0
            ? `No change of ${id} has “${view.text}” in a key or a value.`
            : `No version of the configuration of ${id} is known${historyProblem ? `: ${historyProblem.detail}` : '.'}`}{' '}
          <a href={viewUrl({ ...view, tab: 'text', node: id })}>Show its text</a>
        </p>
      </div>
    );
  return (
    <div class="history">
      {heading}
      <Versions {...{ state, view, found, version }} />
      <div class="config-body">
        <VersionDiff {...{ state, view, version }} />
        <After key={`${id} ${version.fromMs}`} {...{ id, version, diff }} />
      </div>
    </div>
  );
}

interface VersionsProps {
  state: NodeConfigState;
  view: ConfigView;
  found: readonly Version[];
  /** The one that is shown. */
  version: Version;
}

/** A list, or a menu where there is no room for one. */
function Versions({ state, view, found, version }: VersionsProps) {
  const isNarrow = useMedia('(max-width: 760px)');
  const when = useWhen();
  const href = ({ fromMs }: Version) => viewUrl({ ...view, node: state.id, atMs: fromMs });
  const facts = ({ cause, summary }: Version) => [cause, summary].filter(Boolean).join(' · ');
  const text = (one: Version) => (
    <>
      <span class="flex">
        <b class="grow">{when(one.fromMs)}</b>
        {one.toMs === null && <Chip tone="warn">{currentText(state)}</Chip>}
      </span>
      <span class="dim wraps event-detail">{facts(one)}</span>
    </>
  );
  if (isNarrow)
    return (
      <div class="flex line card-note">
        <Menu label={`Version: ${when(version.fromMs)}`} icon="clock" side="left" button={when(version.fromMs)}>
          {(close) =>
            found.map((one) => (
              <MenuItem key={one.fromMs} href={href(one)} isOn={one === version} onClick={close}>
                {text(one)}
              </MenuItem>
            ))
          }
        </Menu>
        <span class="dim cut">{facts(version)}</span>
      </div>
    );
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const links = [...(event.currentTarget as HTMLElement).querySelectorAll('a')];
    const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + step];
    if (step === 0 || !next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <aside>
      <nav class="history-list" aria-label={`Versions of ${state.id}`} onKeyDown={press}>
        {found.map((one) => (
          <a
            key={one.fromMs}
            class="wraps menu-item history-item"
            href={href(one)}
            aria-current={one === version ? 'true' : undefined}
          >
            {text(one)}
          </a>
        ))}
        <p class="faint small card-note">{restText(state, found.length)}</p>
      </nav>
    </aside>
  );
}

/** What is known of the newest version: whether the service has read its file, only the service knows. */
function currentText({ report, settings }: NodeConfigState): string {
  if (report.outcome !== 'ok') return 'last known';
  return settings?.observes === 'self' || settings?.running?.state === 'same' ? 'running' : 'on disk';
}

function restText({ versions, isComplete }: NodeConfigState, found: number): string {
  if (found < versions.length) return `${formatCount(found)} of ${formatCounted(versions.length, 'version')}`;
  if (!isComplete) return 'Older versions are no longer known.';
  return versions.length === 1 ? 'It has not changed since it was first seen.' : '';
}

/** What a version changed in the text of the one before; all of its text if that is not known. */
function VersionDiff({ state, view, version }: Omit<VersionsProps, 'found'>) {
  const { id, report, versions } = state;
  const { changes } = version;
  const before = versions[versions.findIndex(({ fromMs }) => fromMs === version.fromMs) + 1];
  const names = [version.version, ...(before && changes ? [before.version] : [])];
  const { value, failure, reload } = useLoaded(`${id} ${names.join(' ')} ${report.outcome}`, (signal) =>
    loadVersions(session.client, state, names, { signal }),
  );
  const [right = [], left] = useMemo(() => (value ?? []).map(({ config }) => tomlLines(config)), [value]);
  const rows = useMemo(() => left && diffLines(left, right), [left, right]);
  if (failure) return <FailureNote what="This version" {...{ failure }} asOfMs={null} onRetry={reload} />;
  if (!value) return <Skeleton height={240} />;
  const [first, ...more] = changes ?? [];
  const { about = null, default: usual = null } = first
    ? explainKey(first.after === null && left ? left : right, first.key)
    : {};
  const title = changes ? 'Only comments or layout changed' : 'The first configuration that is known';
  const label = `Changes of ${id}`;
  return (
    <section aria-label={`Version of ${id}`}>
      <div class="flex wrap config-head">
        <h2 class="wraps">{first?.key ?? title}</h2>
        {more.length > 0 && (
          <span class="dim" data-tip={more.map(({ key }) => key).join('\n')}>
            and {formatCounted(more.length, 'other key')}
          </span>
        )}
        <span class="dim wraps">
          {changes ? about : formatCounted(value[0]?.settings.length ?? 0, 'key')}
          {usual !== null && (
            <>
              {about && ' · '}default <code>{usual}</code>
            </>
          )}
        </span>
        <span class="grow" />
        {rows && (
          <Button
            class="is-quiet wide-only"
            aria-pressed={view.isSplit}
            onClick={() => navigation.go({ ...view, isSplit: !view.isSplit }, { replace: true })}
          >
            Side by side
          </Button>
        )}
        <Button
          icon="copy"
          class="is-quiet"
          onClick={() =>
            void copyText(rows && left ? unifiedText(rows, left, right) : (value[0]?.config ?? ''), 'Text')
          }
        >
          Copy
        </Button>
      </div>
      {rows && left ? (
        <DiffLines {...{ left, right, rows, label }} isSplit={view.isSplit} />
      ) : (
        <TextLines lines={right} label={label} />
      )}
    </section>
  );
}

interface AfterProps {
  id: string;
  version: Version;
  diff: ClusterConfigDiff | null;
}

/** What happened after a change, on any node, and what other nodes have. */
function After({ id, version, diff }: AfterProps) {
  const nowMs = useNow(REFRESH_MS);
  // What happens after the current version is not over.
  const turn = version.toMs === null ? Math.floor(nowMs / REFRESH_MS) : 0;
  const { value, failure, reload } = useLoaded(`${turn}`, (signal) => loadAfter(id, version, Date.now(), signal), {
    keepsLast: true,
  });
  const keys = (version.changes ?? []).slice(0, MAX_KEYS).map(({ key }) => key);
  const rows = value?.rows ?? [];
  return (
    <section class="col" aria-labelledby="after-title">
      <h2 id="after-title">{version.changes ? 'After this change' : 'Since it was first seen'}</h2>
      {failure && <FailureNote what="What happened" {...{ failure }} asOfMs={null} onRetry={reload} />}
      {!value && !failure && <Skeleton height={44} />}
      {rows.slice(0, MAX_AFTER).map((row, index) => (
        <AfterEvent key={row.event.key} {...{ row, version }} count={index === 0 ? (value?.count ?? '') : null} />
      ))}
      {value && rows.length > MAX_AFTER && (
        <a href={incidentUrl(version, value.untilMs)}>{formatCounted(rows.length - MAX_AFTER, 'more event')}</a>
      )}
      {value && rows.length === 0 && (
        <p class="card card-row">
          <span class={coverageOf(value).isComplete ? 'ok' : 'dim'}>
            <Icon name="check" />
          </span>
          <span class="dim">
            {absenceText('No new error, restart or loss', coverageOf(value))} in the{' '}
            {formatSpan(Math.max(1000, value.untilMs - version.fromMs))}{' '}
            {version.toMs === value.untilMs ? 'until the next change' : 'after it'} · {respondedText(value.members)}
          </span>
        </p>
      )}
      {value && <PartialNote response={value} known={[id]} onRetry={reload} />}
      {diff &&
        keys.map((key) => {
          const values = otherValues(diff, id, key);
          return values.length === 0 ? null : (
            <p key={key} class="card card-row">
              <span class="dim">
                <Icon name="compare" />
              </span>
              <span class="grow wraps dim">
                {keys.length > 1 && `${key}: `}
                {values.map(({ text, value: other }, index) => (
                  <span key={index}>
                    {index > 0 && ' · '}
                    {text} {other !== null && <code class="value">{other}</code>}
                  </span>
                ))}
              </span>
              <a href={viewUrl({ ...ALL_CONFIG, tab: 'compare', text: key, showExpected: true })}>Compare</a>
            </p>
          );
        })}
    </section>
  );
}

interface AfterEventProps {
  row: AfterRow;
  version: Version;
  /** How often the first error was logged, if that is known; `null` for the others. */
  count: string | null;
}

function AfterEvent({ row: { event, delayMs, isHere }, version, count }: AfterEventProps) {
  const { kind, nodes, title, icon, tone, timeMs } = event;
  const where = isHere ? 'this node' : nodes.join(', ');
  const detail = event.detail?.replace(/^first: /, '');
  const isRecord = kind === 'new-pattern' || kind === 'log-burst';
  const began = `${kind === 'new-pattern' ? 'a new error began' : title} on ${where}`;
  return (
    <div class="card card-row flex wrap">
      <span class={eventClass(event)}>
        <Icon name={icon} />
      </span>
      <span class="grow wraps dim">
        <b class={tone === 'err' ? 'problem' : ''}>{formatSpan(delayMs)} later</b> {!isRecord && <b>{where} </b>}
        {isRecord ? began : title}
        {detail && ': '}
        {isRecord ? <code class="value">{detail}</code> : detail} {count && `(${count})`}
      </span>
      {count !== null && tone === 'err' && (
        <a class="button" href={incidentUrl(version, timeMs)}>
          Open incident
        </a>
      )}
    </div>
  );
}

/** The incident page, around the change and a time after it. */
function incidentUrl({ fromMs }: Version, timeMs: number): string {
  return viewUrl({ ...INCIDENTS, range: { kind: 'fixed', fromMs: fromMs - BEFORE_MS, toMs: timeMs + LATER_MS } });
}
