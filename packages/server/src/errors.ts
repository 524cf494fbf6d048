import { types } from 'node:util';
import { codeOf, PortholeError } from '@porthole/contract';

/**
 * Whether the system or Node.js failed with one of these codes. Not by `instanceof`: under Jest and in other contexts of
 * `node:vm` the errors of the system are of another realm.
 */
export function hasCode(thrown: unknown, ...codes: readonly string[]): boolean {
  return types.isNativeError(thrown) && 'code' in thrown && codes.some((code) => code === thrown.code);
}

/**
 * Rethrows what has no code, which is a mistake in this program; for files, streams and members that may fail in any
 * way.
 */
export function expectCode(thrown: unknown): undefined {
  const isError = thrown instanceof Error || types.isNativeError(thrown);
  if (!(isError && 'code' in thrown) || thrown instanceof TypeError) throw thrown;
}

/** A mistake in this program: a failure without a code, which is not that of a member or the client, nor cancelled. */
export function isFault(thrown: unknown): boolean {
  const isExpected = [PortholeError, ClientDisconnected, ReaderStalled].some((type) => thrown instanceof type);
  const isCancelled = thrown instanceof Error && thrown.name === 'AbortError';
  return !isExpected && !isCancelled && codeOf(thrown) === 'INTERNAL';
}

/** Why a node cannot start, for programs. `SettingsError` has `SETTINGS_INVALID`. */
export type StartErrorCode = 'OPTION_INVALID' | 'SETTING_UNUSABLE' | 'PORT_UNAVAILABLE' | 'FILES_MISSING';

/** The node cannot start, and the message says what to do about it. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly code: StartErrorCode;

  constructor(
    message: string,
    { code = 'SETTING_UNUSABLE', ...options }: ErrorOptions & { code?: StartErrorCode } = {},
  ) {
    super(message, options);
    this.code = code;
  }
}

/** The client read nothing for the allowed time. */
export class ReaderStalled extends Error {
  override readonly name = 'ReaderStalled';
}

/** The connection was closed before the response was complete. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

/** Maximum length of a chain of causes. */
const MAX_CAUSES = 3;

interface Failure {
  name: string;
  code: unknown;
  syscall: unknown;
  cause: Failure | undefined;
  /** The stack frames, without the message that the stack begins with. */
  stack: string[];
}

/** An error without its message, which may quote what a client has sent. */
export function describeFailure(error: unknown, depth = 0): Failure {
  if (!(error instanceof Error))
    return { name: typeof error, code: undefined, syscall: undefined, cause: undefined, stack: [] };
  const { code, syscall } = error as NodeJS.ErrnoException;
  const { stack = '', message } = error;
  const at = stack.indexOf(message);
  return {
    name: error.name,
    code: typeof code === 'string' && /^[A-Z][A-Z\d_]{0,63}$/.test(code) ? code : undefined,
    syscall: typeof syscall === 'string' && /^[a-z]{1,32}$/.test(syscall) ? syscall : undefined,
    cause: error.cause !== undefined && depth < MAX_CAUSES ? describeFailure(error.cause, depth + 1) : undefined,
    // If the message was changed after the error was created, the stack still begins with the old one.
    stack: at < 0 ? [] : stackFrames(stack.slice(at + message.length)),
  };
}

function stackFrames(stack: string): string[] {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .map((line) => line.trim());
}
