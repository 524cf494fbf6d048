import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hasCode } from './errors.ts';

/** Receives an error that would have ended the process. */
type OnFault = (error: unknown) => void;

/** The open nodes of this process. Its events exist once, so who takes them is state of the process, too. */
const OPEN = new Set<OnFault>();

/**
 * Keeps errors of our own code that nobody has caught from ending the program that embeds the node, until the returned
 * function is called. All other errors are left to the program and to Node.js, as if there was no node: nothing listens
 * to `uncaughtException` but while such an error is dealt with.
 */
export function guardHost(onFault: OnFault): () => void {
  if (OPEN.size === 0) process.on('uncaughtExceptionMonitor', claim);
  OPEN.add(onFault);
  return () => {
    OPEN.delete(onFault);
    if (OPEN.size === 0) process.off('uncaughtExceptionMonitor', claim);
  };
}

/** Node.js calls this right before it emits the error or, if nobody listens, ends the process. Rejections come here, too. */
function claim(error: unknown): void {
  if (process.hasUncaughtExceptionCaptureCallback() || !isOwnFault(error, ownCode())) return;
  // Programs exit in their own listeners, as they should for errors of theirs.
  const listeners = process.rawListeners('uncaughtException') as NodeJS.UncaughtExceptionListener[];
  process.removeAllListeners('uncaughtException');
  process.once('uncaughtException', () => {
    for (const listener of listeners) process.on('uncaughtException', listener);
    for (const onFault of OPEN) onFault(error);
  });
}

/**
 * Whether code in the folder has thrown the error, and nobody outside has called it: an error that code of the program
 * could have caught is its own. Node.js and other packages are on either side.
 */
export function isOwnFault(error: unknown, folder: string | undefined): boolean {
  if (folder === undefined) return false;
  const stack = error instanceof Object && 'stack' in error ? String(error.stack) : '';
  const frames = stack.split('\n').filter((line) => /^ {4}at .*[/\\]/.test(line) && !/[ (]node:/.test(line));
  const names = [folder, pathToFileURL(folder).href];
  const isOwn = (frame: string) => names.some((name) => frame.includes(name));
  return frames.some(isOwn) && frames.every((frame) => isOwn(frame) || frame.includes('/node_modules/'));
}

/**
 * The folder of our code: that of the published package, or all packages of a checkout. `undefined` if the program has
 * bundled it: another manifest or none is beside it then, and its errors cannot be distinguished from those of the program.
 */
function ownCode(): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { name: unknown };
    if (name === 'porthole') return fileURLToPath(new URL('./', import.meta.url));
    return name === '@porthole/server' ? fileURLToPath(new URL('../../', import.meta.url)) : undefined;
  } catch (error) {
    // No manifest can be read beside a bundle, or there is no such address in one of CommonJS.
    const isMissing = hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ERR_INVALID_URL', 'ERR_INVALID_URL_SCHEME');
    if (!isMissing && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
