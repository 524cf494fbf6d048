import type { Member, MemberClock, NodeConfig } from '@porthole/contract';
import { parseJson, readLabels } from '@porthole/contract';
import type { LogFileDetails } from '@porthole/logs/types';
import { isMemberId } from '../member-address.ts';

/** What is kept of a member besides its records: its last known configuration and files. */
export interface MemberProfile {
  member: Member;
  /** By the clock of this node. */
  asOfMs: number;
  /** Its clock at that time; `null` if not measured. */
  clock: MemberClock | null;
  /** Masked; `null` if it sent none, or none that could be masked. */
  config: NodeConfig | null;
  /** Its log files, times by its clock; `null` if it did not list them. */
  files: LogFileDetails[] | null;
  /** How and when it departed; `null` while it is a member. */
  departed: DepartedState | null;
}

export interface DepartedState {
  state: 'left' | 'failed';
  /** By the clock of this node. */
  sinceMs: number;
}

/** Parses a stored profile; `undefined` if invalid: others may write to the disk. */
export function parseProfile(text: string): MemberProfile | undefined {
  const value = parseJson(text);
  if (!isObject(value) || value.version !== 1) return undefined;
  const { member, asOfMs, clock, config, files = null, departed = null } = value;
  if (!isMember(member) || !isTime(asOfMs)) return undefined;
  if (clock !== null && !isClock(clock)) return undefined;
  if (config !== null && !isConfig(config)) return undefined;
  if (files !== null && !(Array.isArray(files) && files.every(isFile))) return undefined;
  if (departed !== null && !isDeparted(departed)) return undefined;
  return {
    member: { ...member, labels: readLabels(member.labels), isSelf: false },
    asOfMs,
    clock,
    config,
    files,
    departed,
  };
}

export function serializeProfile({ member, asOfMs, clock, config, files, departed }: MemberProfile): string {
  return JSON.stringify({ version: 1, member, asOfMs, clock, config, files, departed });
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMember(value: unknown): value is Member {
  return (
    isObject(value) &&
    typeof value.id === 'string' &&
    isMemberId(value.id) &&
    typeof value.role === 'string' &&
    typeof value.url === 'string' &&
    isNode(value.node)
  );
}

function isNode(value: unknown): boolean {
  if (!isObject(value)) return false;
  const texts = [value.hostIp, value.hostName, value.version];
  const numbers = [value.grpcPort, value.httpPort, value.onlineTime];
  return texts.every((text) => typeof text === 'string') && numbers.every((number) => Number.isFinite(number));
}

function isConfig(value: unknown): value is NodeConfig {
  return isObject(value) && typeof value.config === 'string' && isNode(value.node);
}

function isClock(value: unknown): value is MemberClock {
  return isObject(value) && Number.isFinite(value.offsetMs) && Number.isFinite(value.uncertaintyMs);
}

function isDeparted(value: unknown): value is DepartedState {
  return isObject(value) && (value.state === 'left' || value.state === 'failed') && isTime(value.sinceMs);
}

/** Checks a listed log file. */
export function isFile(value: unknown): value is LogFileDetails {
  if (!isObject(value)) return false;
  const { name, size, family, state, compressed, format, problem } = value;
  const areTexts = [name, family, format].every((text) => typeof text === 'string');
  const areTimes = [value.modifiedMs, value.firstTimeMs, value.lastTimeMs].every(
    (time) => time === null || isTime(time),
  );
  const isState = state === 'live' || state === 'rotated';
  const isProblem = problem === null || typeof problem === 'string';
  return areTexts && areTimes && isState && isProblem && Number.isFinite(size) && typeof compressed === 'boolean';
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 8.64e15;
}
