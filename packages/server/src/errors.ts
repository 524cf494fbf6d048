import { types } from 'node:util';
import { codeOf, PortholeError } from '@porthole/contract';
import { ClientDisconnected, ReaderStalled } from './transport/deadline.ts';

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

/** The node cannot start, and the message says what to do about it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
