import { useMemo } from 'preact/hooks';
import { diffLines } from '../../../config/line-diff.ts';
import type { KnownConfig } from '../../../config/load-node-config.ts';
import { type PairRows, pairRows } from '../../../config/pair-rows.ts';
import { countSettings, settingsByKey } from '../../../config/setting-marks.ts';
import { formatCount } from '../../../ui/format.ts';
import { AsOf, DiskNote, NoSettingsNote } from '../config-notes.tsx';
import { useToml } from '../toml/use-toml.ts';
import { PairTable } from './pair-table.tsx';

/** Two texts, line by line. */
export function PairView({ left, right }: { left: KnownConfig; right: KnownConfig }) {
  const leftSide = useSide(left);
  const rightSide = useSide(right);
  // Secrets are found by their keys, which are known when all lines were looked at.
  const isTokenized = leftSide.toml.isTokenized && rightSide.toml.isTokenized;
  const diff = useMemo(() => diffLines(leftSide.toml.lines, rightSide.toml.lines), [leftSide.toml, rightSide.toml]);
  const pair = useMemo(() => pairRows(diff, leftSide, rightSide), [diff, leftSide, rightSide, isTokenized]);
  return (
    <>
      <p class="config-sub" role="status">
        {summary(pair)}
      </p>
      <section class="config-card" aria-label={`${left.id} and ${right.id} side by side`}>
        <div class="pair-heads">
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
  const parts = [differing === 0 ? 'No line differs' : lines];
  if (unknownSecrets > 0)
    parts.push(`${unknownSecrets} masked ${unknownSecrets === 1 ? 'line' : 'lines'} could not be compared`);
  if (!isExact) parts.push('too different for the best alignment: aligned by lines that occur once in each');
  return parts.join(' · ');
}

function SideHead({ known }: { known: KnownConfig }) {
  const { id, settings, report } = known;
  return (
    <div class="pair-head">
      <div class="config-facts">
        <strong>{id}</strong>
        {report.outcome === 'ok' ? (
          <span class="config-sub">{settings?.observes === 'service' ? 'on disk now' : 'running'}</span>
        ) : (
          <AsOf report={report} />
        )}
        {settings && <span class="config-sub">{countSettings(settings.settings)}</span>}
        <DiskNote settings={settings} />
      </div>
      <NoSettingsNote {...known} />
    </div>
  );
}
