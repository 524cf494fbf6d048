import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { diffLines } from '../../config/line-diff.ts';
import { foldRows, isEqualRow, type PairRow, type PairRows, type PairSide, pairRows } from '../../config/pair-rows.ts';
import {
  countSettings,
  type KnownConfig,
  loadNodeConfig,
  settingMark,
  settingsByKey,
} from '../../config/setting-values.ts';
import { configPairCommand } from '../../state/cli-command.ts';
import { navigation } from '../../state/navigation.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { ConfigView } from '../../state/view.ts';
import { nodeUrl } from '../../state/view-url.ts';
import { Button, CopyCommand, LinkButton } from '../../ui/controls.tsx';
import { formatCount, formatCounted } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks.ts';
import { ResourceNote } from '../../ui/notes.tsx';
import { AsOf, DiskNote, NoSettingsNote, NoTextNote } from './config-notes.tsx';
import { LineChunks, TomlCode, useToml } from './toml-view.tsx';

interface PairSectionProps {
  view: ConfigView;
  /** Ids that can be chosen. */
  nodes: readonly string[];
  /** A pair to show when none was chosen. */
  proposed: { left: string; right: string } | null;
}

const REFRESH_MS = 30_000;

interface LoadedConfigs {
  left: KnownConfig;
  right: KnownConfig;
  /** Loaded with the texts: few pages compare any. */
  compare: typeof diffLines;
}

interface ShownProps {
  loaded: LoadedConfigs;
  onRetry: () => void;
}

/** Two nodes side by side: the chosen ones, or the proposed pair. */
export function PairSection({ view, nodes, proposed }: PairSectionProps) {
  // Keep the first proposal: someone may be reading it when a later response would change it.
  const [first] = useState(proposed);
  const suggested = first ?? proposed;
  const left = view.left ?? (view.right ? null : (suggested?.left ?? null));
  const right = view.right ?? (view.left ? null : (suggested?.right ?? null));
  const heading = useRef<HTMLHeadingElement>(null);
  const chosen = `${view.left} ${view.right}`;
  const last = useRef(chosen);
  useEffect(() => {
    if (last.current === chosen) return;
    last.current = chosen;
    // Chosen in the table above: this section may be out of view.
    heading.current?.scrollIntoView({ block: 'start' });
    heading.current?.focus({ preventScroll: true });
  }, [chosen]);
  const ids = [...new Set([...nodes, ...[left ?? [], right ?? []].flat()])].sort();
  // A pair with itself would never load.
  const unknown = [left, right].filter((id) => id !== null && !nodes.includes(id));
  const go = (pair: { left: string | null; right: string | null }) => {
    last.current = `${pair.left} ${pair.right}`;
    navigation.go({ ...view, ...pair }, { replace: true });
  };
  return (
    <section class="pair-section" aria-labelledby="pair-heading">
      <div class="wrap config-top">
        <h2 id="pair-heading" tabIndex={-1} ref={heading}>
          Side by side
        </h2>
        <div class="config-tools">
          <NodeChoice label="Left" ids={ids} value={left} onChoose={(id) => go({ left: id, right })} />
          <Button
            aria-label="Swap sides"
            title="Swap sides"
            disabled={left === null || right === null}
            onClick={() => go({ left: right, right: left })}
          >
            ⇄
          </Button>
          <NodeChoice label="Right" ids={ids} value={right} onChoose={(id) => go({ left, right: id })} />
          {left !== null && right !== null && (
            <CopyCommand command={configPairCommand(left, right, { url: nodeUrl(location) })} />
          )}
        </div>
      </div>
      {unknown.length > 0 ? (
        <p class="dim wraps config-empty" role="alert">
          {unknown.map((id) => `No node named "${id}"`).join(' · ')}: choose another.
        </p>
      ) : left !== null && right !== null ? (
        <LoadedPair key={`${left} ${right}`} left={left} right={right} />
      ) : (
        <p class="dim wraps config-empty">Choose two nodes to compare their configurations.</p>
      )}
    </section>
  );
}

interface NodeChoiceProps {
  label: string;
  ids: readonly string[];
  value: string | null;
  onChoose: (id: string | null) => void;
}

function NodeChoice({ label, ids, value, onChoose }: NodeChoiceProps) {
  return (
    <select
      aria-label={`${label} node`}
      value={value ?? ''}
      onChange={(event) => onChoose(event.currentTarget.value || null)}
    >
      <option value="">{label} node …</option>
      {ids.map((id) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </select>
  );
}

function LoadedPair({ left, right }: { left: string; right: string }) {
  const resource = useMemo(
    () =>
      new Resource<LoadedConfigs>(
        async (signal) => {
          const load = (id: string) => loadNodeConfig(session.client.cluster, id, { signal });
          const diff = import('../../config/line-diff.ts');
          const [leftConfig, rightConfig, { diffLines }] = await Promise.all([load(left), load(right), diff]);
          return { left: leftConfig, right: rightConfig, compare: diffLines };
        },
        { everyMs: REFRESH_MS },
      ),
    [left, right],
  );
  const { value } = useResource(resource);
  return (
    <>
      <ResourceNote resource={resource} what="The configurations" loading="both configurations" />
      {value && <Shown loaded={value} onRetry={() => resource.reload()} />}
    </>
  );
}

function Shown({ loaded, onRetry }: ShownProps) {
  const missing = [loaded.left, loaded.right].filter(({ text }) => text === null);
  if (missing.length === 0) return <PairView {...loaded} />;
  return (
    <>
      {missing.map(({ id, report }) => (
        <NoTextNote key={id} report={report} onRetry={onRetry} />
      ))}
    </>
  );
}

/** Two texts line by line. */
function PairView({ left, right, compare }: LoadedConfigs) {
  const leftSide = useSide(left);
  const rightSide = useSide(right);
  // Secrets are found by key, and keys are known only once all lines are tokenized.
  const isTokenized = leftSide.toml.isTokenized && rightSide.toml.isTokenized;
  const diff = useMemo(() => compare(leftSide.toml.lines, rightSide.toml.lines), [leftSide.toml, rightSide.toml]);
  const pair = useMemo(() => pairRows(diff, leftSide, rightSide), [diff, leftSide, rightSide, isTokenized]);
  return (
    <>
      <p class="dim config-sub" role="status">
        {summary(pair)}
      </p>
      <section class="card config-card" aria-label={`${left.id} and ${right.id} side by side`}>
        <div class="line pair-heads">
          <SideHead known={left} />
          <SideHead known={right} />
        </div>
        <PairTable pair={pair} left={leftSide} right={rightSide} names={[left.id, right.id]} />
      </section>
    </>
  );
}

function useSide({ text, settings }: KnownConfig) {
  const toml = useToml(text ?? '');
  return useMemo(() => ({ toml, settings: settingsByKey(settings?.settings ?? []) }), [toml, settings]);
}

function summary({ differing, unknownSecrets, isExact }: PairRows): string {
  const lines = differing === 1 ? '1 line differs' : `${formatCount(differing)} lines differ`;
  const none = unknownSecrets === 0 ? 'No line differs' : 'No line that could be compared differs';
  const parts = [differing === 0 ? none : lines];
  if (unknownSecrets > 0) parts.push(`${formatCounted(unknownSecrets, 'masked line')} not compared`);
  if (!isExact) parts.push('too different for a full diff: aligned by lines that occur once in each');
  return parts.join(' · ');
}

function SideHead({ known }: { known: KnownConfig }) {
  const { id, settings, report } = known;
  return (
    <div class="pair-head">
      <div class="flex wrap config-facts">
        <strong>{id}</strong>
        {report.outcome === 'ok' ? (
          <span class="dim config-sub">{settings?.observes === 'service' ? 'on disk now' : 'running'}</span>
        ) : (
          <AsOf report={report} />
        )}
        {settings && <span class="dim config-sub">{countSettings(settings.settings)}</span>}
        <DiskNote settings={settings} />
      </div>
      <NoSettingsNote {...known} />
    </div>
  );
}

interface PairTableProps {
  pair: PairRows;
  left: PairSide;
  right: PairSide;
  names: readonly [string, string];
}

/** A row, or a fold of equal rows. */
type Item = { row: PairRow } | Fold;

interface Fold {
  start: number;
  count: number;
  isOpen: boolean;
}

function PairTable({ pair, left, right, names }: PairTableProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const items = useMemo(() => foldItems(pair.rows, opened), [pair, opened]);
  const toggle = ({ start, isOpen }: Fold) =>
    setOpened(new Set(isOpen ? [...opened].filter((one) => one !== start) : [...opened, start]));
  const drawItem = (item: Item, index: number) =>
    'row' in item ? (
      <Row key={index} row={item.row} left={left} right={right} />
    ) : (
      <FoldRow key={index} fold={item} onToggle={() => toggle(item)} />
    );
  return (
    <table class="pair-table">
      <caption class="sr-only">
        Lines of {names[0]} and {names[1]}
      </caption>
      <colgroup>
        <col class="number-column" />
        <col />
        <col class="number-column" />
        <col />
      </colgroup>
      <LineChunks
        count={items.length}
        kind="rows"
        wanted={null}
        draw={(from, to) => items.slice(from, to).map((item, index) => drawItem(item, from + index))}
      />
    </table>
  );
}

function foldItems(rows: readonly PairRow[], opened: ReadonlySet<number>): Item[] {
  return foldRows(rows.map(isEqualRow)).flatMap(({ isFolded, start, end }): Item[] => {
    const isOpen = !isFolded || opened.has(start);
    const inside = isOpen ? rows.slice(start, end).map((row) => ({ row })) : [];
    return isFolded ? [{ start, count: end - start, isOpen }, ...inside] : inside;
  });
}

function FoldRow({ fold: { count, isOpen }, onToggle }: { fold: Fold; onToggle: () => void }) {
  return (
    <tr class="fold-row">
      <td colSpan={4}>
        <LinkButton aria-expanded={isOpen} onClick={onToggle}>
          {formatCount(count)} equal lines · {isOpen ? 'hide' : 'show'}
        </LinkButton>
      </td>
    </tr>
  );
}

function Row({ row, left, right }: { row: PairRow; left: PairSide; right: PairSide }) {
  return (
    <tr class={`pair-row is-${row.kind}`}>
      <Side row={row} index={row.left} side={left} sign="−" name="left" />
      <Side row={row} index={row.right} side={right} sign="+" name="right" />
    </tr>
  );
}

interface SideProps {
  row: PairRow;
  index: number | null;
  side: PairSide;
  sign: string;
  name: 'left' | 'right';
}

function Side({ row, index, side, sign, name }: SideProps) {
  if (index === null)
    return (
      <>
        <td class={`line-number is-${name} is-nothing`} />
        <td class={`is-${name} is-nothing`} />
      </>
    );
  const line = side.toml.lineAt(index);
  const mark = settingMark(line.key === null ? undefined : side.settings.get(line.key));
  const isEqual = row.kind === 'equal';
  return (
    <>
      <td class={`line-number is-${name}`}>
        {index + 1} <span class="line-sign">{isEqual ? '' : sign}</span>
      </td>
      <td class={`line-text is-${name}`}>
        <TomlCode line={line} />
        {mark && <span class="dim toml-note">◂ {mark.text}</span>}
        {row.secret === 'differs' && <span class="dim toml-note">◂ different secret (by fingerprint)</span>}
        {row.secret === 'unknown' && <span class="dim toml-note">◂ not compared</span>}
      </td>
    </>
  );
}
