import { type ShownValue, shortFingerprint } from '../../config/setting-text.ts';
import { MASK } from '../../config/toml-tokens.ts';

/** A value in a cell; descriptions and secrets have their own style. */
export function ValueText({ shown: { text, kind, fingerprint } }: { shown: ShownValue }) {
  if (kind === 'value') return <span class="value-text">{text}</span>;
  if (kind !== 'secret') return <em class="value-word">{text}</em>;
  const title = fingerprint === null ? 'A secret; its value never leaves the node' : `Fingerprint ${fingerprint}`;
  return (
    <span class={`toml-mask${text === MASK ? ' is-whole' : ''}`} title={title}>
      {text.replaceAll(MASK, '••••••')}
      {fingerprint !== null && <> {shortFingerprint(fingerprint)}</>}
    </span>
  );
}
