import { outcomeText } from '@porthole/contract';
import { useMemo, useState } from 'preact/hooks';
import { countSettings, type KnownConfig, settingsByKey } from '../../config/setting-values.ts';
import { findInLines, stepMatch } from '../../config/toml-text.ts';
import { configGetCommand } from '../../state/cli-command.ts';
import { copyText } from '../../state/notice.ts';
import type { ConfigShape } from '../../state/view.ts';
import { nodeUrl } from '../../state/view-url.ts';
import { Button, CopyCommand, LinkButton, Segments } from '../../ui/controls.tsx';
import { saveContent } from '../../ui/start-download.ts';
import { AsOf, DiskNote, NoSettingsNote, NoTextNote } from './config-notes.tsx';
import { FindBox, useSettledText } from './find-box.tsx';
import { ChangesTable, SettingsTable } from './settings-table.tsx';
import { TomlView, useToml } from './toml-view.tsx';

interface ConfigPanelProps {
  known: KnownConfig;
  text: string;
  /** Falls back to text if the requested form is not available. */
  shape: ConfigShape | 'text';
  onText: (text: string) => void;
  onShape: (shape: ConfigShape | 'text') => void;
  onRetry: () => void;
}

/** One configuration with its tools. */
export function ConfigPanel({ known, text, onText, onShape, onRetry, ...wanted }: ConfigPanelProps) {
  const { id, settings, report } = known;
  const { changes = [], textAtStart } = settings?.disk ?? {};
  const shapes = availableShapes(known);
  const shape = shapes.find((one) => one === wanted.shape) ?? 'text';
  const isTable = shape === 'table';
  const texts = { start: textAtStart, source: known.source, text: known.text, table: known.text };
  const toml = useToml(texts[shape] ?? '');
  const [current, setCurrent] = useState(0);
  const query = useSettledText(text, toml.text);
  const found = useMemo(() => findInLines(toml.lines, query), [toml, query]);
  const byKey = useMemo(() => settingsByKey(settings?.settings ?? []), [settings]);
  if (known.text === null) return <NoTextNote report={report} onRetry={onRetry} />;
  const at = Math.min(current, found.matches.length - 1);
  const steps = {
    count: found.matches.length,
    isMore: found.isMore,
    current: at,
    onStep: (step: 1 | -1) => setCurrent(stepMatch(found.matches.length, at, step)),
  };
  return (
    <section class="card config-card" aria-label={`Configuration of ${id}`}>
      <div class="flex wrap line config-head">
        <div class="flex wrap config-facts">
          {settings && <span>{countSettings(settings.settings)}</span>}
          {settings?.file && <code class="dim wraps config-file">{settings.file}</code>}
          {report.outcome !== 'ok' && (
            <>
              <AsOf report={report} />
              {report.asOfMs !== null && <span class="dim config-sub">{outcomeText(report.outcome)}</span>}
              <LinkButton onClick={onRetry}>retry</LinkButton>
            </>
          )}
          <DiskNote settings={settings} />
        </div>
        <div class="config-tools">
          {shapes.length > 1 && <ShapeSwitch shapes={shapes} shape={shape} onShape={onShape} />}
          <FindBox
            label={isTable ? 'Find setting' : 'Find in text'}
            text={text}
            onText={(next) => {
              setCurrent(0);
              onText(next);
            }}
            {...(!isTable && { steps })}
          />
          <Button onClick={() => void copyText(toml.text, 'Configuration')}>Copy</Button>
          <Button
            onClick={() =>
              saveContent(
                new Blob([toml.text], { type: shape === 'source' ? 'text/plain' : 'application/toml' }),
                `${id.replaceAll(':', '_')}.${shape === 'source' ? 'txt' : 'toml'}`,
              )
            }
          >
            Download
          </Button>
          <CopyCommand command={configGetCommand(id, { url: nodeUrl(location) })} />
        </div>
      </div>
      <NoSettingsNote {...known} />
      {changes.length > 0 && <ChangesTable changes={changes} />}
      {isTable ? (
        <SettingsTable settings={settings?.settings ?? []} text={text} />
      ) : (
        <TomlView
          toml={toml}
          settings={shape === 'text' ? byKey : NO_MARKS}
          found={found}
          current={text === '' ? -1 : at}
          label={`${shape === 'source' ? 'Source' : 'TOML'} of ${id}`}
        />
      )}
    </section>
  );
}

/** Marks apply to the current values only. */
const NO_MARKS = settingsByKey([]);

const SHAPE_LABELS = { text: 'TOML', source: 'Source', start: 'TOML at start', table: 'Settings' } as const;

/** Only the forms that have content. */
function availableShapes({ settings, source }: KnownConfig): (ConfigShape | 'text')[] {
  const texts: (ConfigShape | 'text')[] = source === null ? ['text'] : ['text', 'source'];
  if (settings === null) return texts;
  return settings.disk.textAtStart === undefined ? [...texts, 'table'] : [...texts, 'start', 'table'];
}

interface ShapeSwitchProps {
  shapes: readonly (ConfigShape | 'text')[];
  shape: ConfigShape | 'text';
  onShape: (shape: ConfigShape | 'text') => void;
}

function ShapeSwitch({ shapes, shape, onShape }: ShapeSwitchProps) {
  const hasStart = shapes.includes('start');
  return (
    <Segments
      label="Show as"
      value={shape}
      choices={shapes.map((one) => ({
        value: one,
        text: one === 'text' && hasStart ? 'TOML on disk now' : SHAPE_LABELS[one],
      }))}
      onChange={onShape}
    />
  );
}
