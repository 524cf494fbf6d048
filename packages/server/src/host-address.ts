import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Wildcard addresses: a node listens on them, but cannot be reached by them. */
const UNSPECIFIED = new Set(['0.0.0.0', '::', '']);

/** The address others can use: the configured one, else the bound one, else the first non-loopback address. */
export function hostAddress(configured: string, bound: string): string {
  if (configured !== '') return configured;
  if (!UNSPECIFIED.has(bound) && isIP(bound) !== 0) return bound;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = addresses.filter(({ internal }) => !internal);
  return (outside.find(({ family }) => family === 'IPv4') ?? outside[0])?.address ?? '127.0.0.1';
}
