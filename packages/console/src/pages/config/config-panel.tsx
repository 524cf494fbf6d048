import { useMemo, useState } from 'preact/hooks';
import { configGetCommand } from '../../config/config-command.ts';
import { outcomeWords } from '../../config/drift-words.ts';
import { findInLines, stepPlace } from '../../config/find-lines.ts';
import type { KnownConfig } from '../../config/load-node-config.ts';
import { countSettings, settingsByKey } from '../../config/setting-marks.ts';
import { copyText } from '../../state/notice.ts';
import { saveContent } from '../../ui/save-content.ts';
import { AsOf, DiskNote, NoSettingsNote, NoTextNote } from './config-notes.tsx';
import { FindBox } from './find-box.tsx';
import { SettingsTable } from './settings-table.tsx';
import { TomlView } from './toml-view.tsx';
import { useToml } from './use-toml.ts';

interface ConfigPanelProps {
  known: KnownConfig;
  text: string;
  /** Its settings as a table, where they are known; else the text. */
  isTable: boolean;
  onText: (text: string) => void;
  onTable: (isTable: boolean) => void;
  onRetry: () => void;
}

/** One configuration with all that can be done with it. */
export function ConfigPanel({ known, text, onText, onTable, onRetry, ...shown }: ConfigPanelProps) {
  const { id, settings, report } = known;
  const toml = useToml(known.text ?? '');
  const [current, setCurrent] = useState(0);
  const found = useMemo(() => findInLines(toml.lines, text), [toml, text]);
  const byKey = useMemo(() => settingsByKey(settings?.settings ?? []), [settings]);
  if (known.text === null) return <NoTextNote report={report} onRetry={onRetry} />;
  const isTable = shown.isTable && settings !== null;
  const at = Math.min(current, found.places.length - 1);
  const steps = {
    count: found.places.length,
    isMore: found.isMore,
    current: at,
    onStep: (step: 1 | -1) => setCurrent(stepPlace(found.places.length, at, step)),
  };
  return (
    <section class="config-card" aria-label={`Configuration of ${id}`}>
      <div class="config-head">
        <div class="config-facts">
          {settings && <span>{countSettings(settings.settings)}</span>}
          {settings?.file && <code class="config-file">{settings.file}</code>}
          {report.outcome !== 'ok' && (
            <>
              <AsOf report={report} />
              {report.asOfMs !== null && <span class="config-sub">{outcomeWords(report.outcome)}</span>}
              <button type="button" class="link-button" onClick={onRetry}>
                retry
              </button>
            </>
          )}
          <DiskNote settings={settings} />
        </div>
        <div class="config-tools">
          {settings && <ShapeSwitch isTable={isTable} onTable={onTable} />}
          <FindBox
            label={isTable ? 'Find setting' : 'Find in text'}
            text={text}
            onText={(next) => {
              setCurrent(0);
              onText(next);
            }}
            {...(!isTable && { steps })}
          />
          <button type="button" class="button" onClick={() => void copyText(toml.text, 'Configuration')}>
            Copy
          </button>
          <button
            type="button"
            class="button"
            onClick={() =>
              saveContent(new Blob([toml.text], { type: 'application/toml' }), `${id.replaceAll(':', '_')}.toml`)
            }
          >
            Download
          </button>
          <CopyCommand id={id} />
        </div>
      </div>
      <NoSettingsNote {...known} />
      {isTable ? (
        <SettingsTable settings={settings.settings} text={text} />
      ) : (
        <TomlView toml={toml} settings={byKey} found={found} current={text === '' ? -1 : at} label={`TOML of ${id}`} />
      )}
    </section>
  );
}

function ShapeSwitch({ isTable, onTable }: { isTable: boolean; onTable: (isTable: boolean) => void }) {
  return (
    <fieldset class="config-segments">
      <legend class="sr-only">Show as</legend>
      {[false, true].map((one) => (
        <button
          key={String(one)}
          type="button"
          class="config-segment"
          aria-pressed={isTable === one}
          onClick={() => onTable(one)}
        >
          {one ? 'Settings' : 'TOML'}
        </button>
      ))}
    </fieldset>
  );
}

function CopyCommand({ id }: { id: string }) {
  const command = configGetCommand(id, { origin: location.origin });
  return (
    <button type="button" class="button" title={command} onClick={() => void copyText(command, 'Command')}>
      Copy as CLI
    </button>
  );
}
