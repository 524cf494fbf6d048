import { useMemo } from 'preact/hooks';
import { diffLines } from '../../config/line-diff.ts';
import { loadVersions, type NodeConfigState } from '../../config/node-config.ts';
import { countSettings, settingNote, settingsNotices } from '../../config/setting-values.ts';
import { findInLines, type TomlLine, tomlLines } from '../../config/toml-text.ts';
import { configGetCommand } from '../../state/cli-command.ts';
import { navigation } from '../../state/navigation.ts';
import { copyText } from '../../state/notice.ts';
import { session } from '../../state/session.ts';
import { ALL_CONFIG, type ConfigShape, type ConfigView, type NodeView } from '../../state/view.ts';
import { nodeUrl, viewUrl } from '../../state/view-url.ts';
import { Button, CopyCommand, IconButton, Segments } from '../../ui/controls.tsx';
import { formatCount, formatCounted } from '../../ui/format.ts';
import { useLoaded } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { saveContent } from '../../ui/start-download.ts';
import { TextLines } from './code-lines.tsx';
import { useWhen } from './config-parts.tsx';

interface TextTabProps {
  state: NodeConfigState;
  view: ConfigView | NodeView;
  /** How many steps from the first match. */
  step: number;
  onStep: (by: 1 | -1) => void;
}

/** The configuration of one node as text: as it is, as its files have it, or as it was at start. */
export function TextTab({ state, view, step, onStep }: TextTabProps) {
  const { id, settings, settingsProblem, report } = state;
  const { shape: wanted } = view;
  const texts = { text: state.text, source: state.source, start: settings?.disk.textAtStart ?? null };
  const shape = wanted && texts[wanted] !== null ? wanted : 'text';
  const text = texts[shape];
  const lines = useMemo(() => tomlLines(text ?? ''), [text]);
  const { matches, isMore } = useMemo(() => findInLines(lines, view.text), [lines, view.text]);
  const byKey = useMemo(() => new Map((settings?.settings ?? []).map((entry) => [entry.key, entry])), [settings]);
  const change = useLastChange(state, shape === 'text' ? lines : null);
  const total = matches.length;
  const current = total === 0 ? -1 : ((step % total) + total) % total;
  const onDisk = texts.start === null ? 'TOML' : 'TOML on disk now';
  const names = { text: onDisk, source: 'Source', start: 'TOML at start' };
  const shapes = (['text', 'source', 'start'] as const).filter((one) => texts[one] !== null);
  return (
    <div class="config-body">
      <h1 class="sr-only">Configuration of {id}</h1>
      {/* One that does not respond is named above. */}
      {text === null && report.outcome === 'ok' && <p class="card card-note dim">{id} has no configuration.</p>}
      {text !== null && (
        <div class="flex wrap config-head">
          {shapes.length > 1 && (
            <Segments
              label="Show as"
              value={shape as ConfigShape | 'text'}
              choices={shapes.map((value) => ({ value, text: names[value] }))}
              onChange={(next) => navigation.go({ ...view, shape: next === 'text' ? null : next })}
            />
          )}
          <Facts {...{ state, change }} />
          <span class="grow" />
          {view.text !== '' && (
            <>
              <span class="dim" role="status">
                {total === 0 ? 'not found' : `${formatCount(current + 1)} of ${formatCount(total)}${isMore ? '+' : ''}`}
              </span>
              <IconButton label="Previous" icon="up" disabled={total === 0} onClick={() => onStep(-1)} />
              <IconButton label="Next" icon="down" disabled={total === 0} onClick={() => onStep(1)} />
            </>
          )}
          <span class="wide-only">
            <CopyCommand command={configGetCommand(id, { url: nodeUrl(location) })} />
          </span>
          <Button icon="download" class="is-quiet" onClick={() => saveText(id, text, shape === 'source')}>
            Download
          </Button>
          <Button icon="copy" class="is-quiet" onClick={() => void copyText(text, 'Configuration')}>
            Copy
          </Button>
        </div>
      )}
      {settings &&
        settingsNotices(settings).map((notice) => (
          <p key={notice.text} class="notice" role="note">
            <Icon name="alert" />
            <span>
              <strong>{notice.text}</strong> {notice.detail}
            </span>
          </p>
        ))}
      {settingsProblem && report.outcome === 'ok' && (
        <p class="dim">
          {/^(NOT_SUPPORTED|ROUTE_NOT_FOUND)$/.test(settingsProblem.code)
            ? 'This node reports its configuration only as text; defaults and sources are unknown.'
            : `Defaults and sources are unknown: ${settingsProblem.code} ${settingsProblem.detail}`}
        </p>
      )}
      {text !== null && (
        <TextLines
          {...{ lines, matches, current }}
          label={`${shape === 'source' ? 'Source' : 'TOML'} of ${id}`}
          marked={change?.marked}
          noteOf={(key) => (shape === 'text' ? settingNote(byKey.get(key)) : null)}
        />
      )}
    </div>
  );
}

interface LastChange {
  /** Lines that are not as before. */
  marked: ReadonlySet<number>;
  removed: number;
  fromMs: number;
}

/** The lines of the current text that its last version changed; `null` if that is not known. */
function useLastChange(state: NodeConfigState, lines: readonly TomlLine[] | null): LastChange | null {
  const [now, before] = state.versions;
  const name = now?.changes && before ? before.version : '';
  const { value } = useLoaded(`${state.id} ${name}`, async (signal) =>
    name === '' ? [] : loadVersions(session.client, state, [name], { signal }),
  );
  return useMemo(() => {
    const [old] = value ?? [];
    if (!now || !old || !lines || old.version !== name) return null;
    const rows = diffLines(tomlLines(old.config), lines);
    const marked = rows.flatMap(({ kind, right }) => (kind === 'equal' || right === null ? [] : [right]));
    const removed = rows.filter(({ kind }) => kind === 'removed').length;
    return { marked: new Set(marked), removed, fromMs: now.fromMs };
  }, [value, lines, now?.version]);
}

/** Which file it is, since when it is so, and how much of it was changed last. */
function Facts({ state, change }: { state: NodeConfigState; change: LastChange | null }) {
  const when = useWhen();
  const { id, settings, startedMs, editedMs, versions } = state;
  const isService = settings?.observes === 'service';
  // A service's file is what versions are made of; the node's own is only read when it starts.
  const onDiskMs = (isService ? versions[0]?.fromMs : editedMs) ?? null;
  return (
    <>
      {settings && <span>{countSettings(settings.settings)}</span>}
      {settings?.file && <code class="dim wraps">{settings.file}</code>}
      {settings?.disk.state === 'changed' && (
        <span class="dim">
          {isService ? 'read at start' : 'loaded'} {startedMs === null ? 'at an unknown time' : when(startedMs)} · on
          disk {onDiskMs === null ? 'since an unknown time' : `since ${when(onDiskMs)}`}
        </span>
      )}
      {change && change.marked.size + change.removed > 0 && (
        <a href={viewUrl({ ...ALL_CONFIG, node: id })}>
          {formatCounted(change.marked.size, 'line')} changed
          {change.removed > 0 && `, ${change.removed} removed`} · {when(change.fromMs)}
        </a>
      )}
    </>
  );
}

function saveText(id: string, text: string, isSource: boolean): void {
  const [end, type] = isSource ? ['txt', 'text/plain'] : ['toml', 'application/toml'];
  saveContent(new Blob([text], { type }), `${id.replaceAll(':', '_')}.${end}`);
}
