import { PortholeError } from '@porthole/contract';
import type { ConfigOption } from './config-option.ts';
import type { ConfigText } from './service-config.ts';

/** Starting a node and every request for the configuration wait for it. */
const TIMEOUT_MS = 10_000;

/** Reads the configuration that a program gives. Throws `CONFIG_UNAVAILABLE` for whatever goes wrong there. */
export function createConfigReader(
  config: ConfigOption,
  { maxBytes }: { maxBytes: number },
): () => Promise<ConfigText> {
  return async () => {
    const given: unknown = typeof config === 'function' ? await callConfig(config as () => unknown) : config;
    const shown = typeof given === 'string' ? { text: given, secretKeys: [] } : await renderObject(given);
    if (shown.text.length <= maxBytes) return shown;
    throw unavailable(`it is larger than ${maxBytes} bytes, the limit set by config.max-bytes`);
  };
}

async function renderObject(given: unknown): Promise<ConfigText> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw unavailable(`expected an object or TOML text, found ${given === null ? 'null' : typeof given}`);
  const { renderConfig } = await import('./render-config.ts');
  try {
    return renderConfig(given);
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    throw unavailable('it is not an object of plain values', error);
  }
}

/** Without the message of the error, which may contain a secret. */
async function callConfig(config: () => unknown): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(`it was not returned within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([config(), late]);
  } catch (error) {
    if (error instanceof PortholeError) throw error;
    throw unavailable(`the function threw ${error instanceof Error ? error.name : typeof error}`, error);
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(reason: string, cause?: unknown): PortholeError {
  return new PortholeError('CONFIG_UNAVAILABLE', `option config: the configuration cannot be shown: ${reason}`, {
    cause,
  });
}
