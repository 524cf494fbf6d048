import { useMemo, useState } from 'preact/hooks';
import { foldRows, isEqualRow, type PairRow, type PairRows, type PairSide } from '../../../config/pair-rows.ts';
import { settingMark } from '../../../config/setting-values.ts';
import { formatCount } from '../../../ui/format.ts';
import { LineChunks } from '../toml/line-chunks.tsx';
import { TomlCode } from '../toml/toml-view.tsx';

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

export function PairTable({ pair, left, right, names }: PairTableProps) {
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
        <button type="button" class="link-button" aria-expanded={isOpen} onClick={onToggle}>
          {formatCount(count)} equal lines · {isOpen ? 'hide' : 'show'}
        </button>
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
        {mark && <span class="toml-note">◂ {mark.text}</span>}
        {row.secret === 'differs' && <span class="toml-note">◂ different secret (by fingerprint)</span>}
        {row.secret === 'unknown' && <span class="toml-note">◂ not compared</span>}
      </td>
    </>
  );
}
