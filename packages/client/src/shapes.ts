import type { NodeConfig, NodeDescription, NodeObject, NodeSettings } from '@porthole/contract';
import type { Digest, Histogram, LogEntry, LogFileDetails } from '@porthole/logs/types';

/*
 * Whether an answer is the right kind of thing: not each field, which would refuse the answers of later versions.
 * `undefined` where it is not. The three of the contract come from other nodes too, so their fields are made exact.
 */

type Fields = Readonly<Record<string, unknown>>;

export function readConfig(value: unknown): NodeConfig | undefined {
  if (!isObject(value) || typeof value.config !== 'string' || !isObject(value.node)) return undefined;
  return { config: value.config, node: readNode(value.node) };
}

/** Nodes without a gRPC port leave it out; others add fields. */
function readNode(node: Fields): NodeObject {
  return {
    hostIp: textOf(node.hostIp),
    hostName: textOf(node.hostName),
    grpcPort: numberOf(node.grpcPort),
    httpPort: numberOf(node.httpPort),
    version: textOf(node.version),
    onlineTime: numberOf(node.onlineTime),
  };
}

/** A list made in Go is `null` when it is empty. */
export function readList(value: unknown): LogEntry[] | undefined {
  if (value === null) return [];
  if (!Array.isArray(value) || !value.every(isEntry)) return undefined;
  return value.map(({ name, size }) => ({ name, size }));
}

export function readFiles(value: unknown): LogFileDetails[] | undefined {
  return Array.isArray(value) && value.every(isEntry) ? (value as LogFileDetails[]) : undefined;
}

export function readDescription(value: unknown): NodeDescription | undefined {
  return isObject(value) && isObject(value.node) ? (value as unknown as NodeDescription) : undefined;
}

export function readSettings(value: unknown): NodeSettings | undefined {
  return isObject(value) && Array.isArray(value.settings) ? (value as unknown as NodeSettings) : undefined;
}

export function readHistogram(value: unknown): Histogram | undefined {
  return isObject(value) && Array.isArray(value.buckets) && isObject(value.end)
    ? (value as unknown as Histogram)
    : undefined;
}

export function readDigest(value: unknown): Digest | undefined {
  return isObject(value) && Array.isArray(value.groups) && isObject(value.end)
    ? (value as unknown as Digest)
    : undefined;
}

/** Reads what has these lists. */
export function hasList<T>(...names: readonly (keyof T & string)[]): (value: unknown) => T | undefined {
  return (value) =>
    isObject(value) && names.every((name) => Array.isArray(value[name])) ? (value as unknown as T) : undefined;
}

/** An item of a stream: something that says what it is. */
export function isItem(value: unknown): value is { type: string } {
  return isObject(value) && typeof value.type === 'string';
}

function isEntry(value: unknown): value is LogEntry {
  return isObject(value) && typeof value.name === 'string' && typeof value.size === 'number';
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
