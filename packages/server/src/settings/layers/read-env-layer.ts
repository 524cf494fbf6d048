import { closestMatch } from '../problems/closest-match.ts';
import { SETTING_DEFINITIONS, type SettingDefinition } from '../settings.ts';
import { quote, showText } from '../show-value.ts';
import { emptyLayer, type Layer, take } from './layer.ts';

const PREFIX = 'PORTHOLE_';

/** Read by the command line and the loader; not settings. */
const OTHER_VARIABLES = new Set(['PORTHOLE_URL', 'PORTHOLE_TOKEN', 'PORTHOLE_CONFIG']);

/** Kubernetes puts `PORTHOLE_HTTP_PORT=tcp://10.0.0.1:80` into every pod beside a service named `porthole-http`. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;

/** What the environment says. An empty variable counts as not set: compose files and charts pass such on. */
export function readEnvLayer(env: Readonly<Record<string, string | undefined>>, baseDir: string): Layer {
  const layer = emptyLayer('env');
  for (const definition of SETTING_DEFINITIONS) {
    const text = env[definition.env];
    if (text === undefined || text === '') continue;
    const at = `environment ${definition.env}`;
    if (isServiceLink(definition, text)) {
      layer.warnings.push(`${at}: ${quote(text)} was put there by Kubernetes and is ignored`);
      continue;
    }
    take(layer, definition, { reading: definition.kind.fromText(text, baseDir), at });
  }
  layer.warnings.push(...warnOfTypos(Object.keys(env)));
  return layer;
}

function isServiceLink(definition: SettingDefinition, text: string): boolean {
  return definition.kind.name === 'port' && SERVICE_LINK.test(text);
}

/** Unknown names are no errors, as orchestrators add their own; one very near to ours is worth a word. */
function warnOfTypos(names: readonly string[]): string[] {
  const known = new Map(SETTING_DEFINITIONS.map(({ env }) => [env.slice(PREFIX.length), env]));
  const warnings: string[] = [];
  for (const name of names) {
    if (!name.toUpperCase().startsWith(PREFIX) || OTHER_VARIABLES.has(name)) continue;
    const own = known.get(closestMatch(name.slice(PREFIX.length), known.keys()) ?? '');
    if (own !== undefined && own !== name) {
      warnings.push(`environment ${showText(name)} is not a setting - did you mean ${own}?`);
    }
  }
  return warnings;
}
