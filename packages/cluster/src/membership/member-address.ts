import { PortholeError, quoteInput } from '@porthole/contract';

/** A host and port to connect to. */
export interface Address {
  /** Scheme, host and port; of a member also its base path. */
  url: string;
  isTls: boolean;
  /** Without IPv6 brackets. */
  host: string;
  port: number;
}

/** A base path, as of `http.base-path`. */
const BASE_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*$/;

/** Parses the URL of a member, which may be mounted at a path: `https://host:port/ops`. */
export function readMemberAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const path = url?.pathname.replace(/\/$/, '') ?? '';
  if (!url || path === '' || !BASE_PATH.test(path) || !url.href.replace(/\/$/, '').endsWith(path))
    return readAddress(text);
  url.pathname = '';
  const address = readAddress(url.href);
  return { ...address, url: address.url + path };
}

/**
 * Parses `http://host:port` or `https://host:port`. Throws PARAMETER_INVALID for anything more: a path would be ignored, and
 * credentials would end up in logs and responses.
 */
export function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new PortholeError('PARAMETER_INVALID', `invalid URL ${quoteInput(text)}: expected http://host:port`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new PortholeError(
      'PARAMETER_INVALID',
      `the URL with host ${quoteInput(url.host)} contains a user or password, which is not allowed`,
    );
  }
  if (url.origin !== url.href.replace(/\/$/, '') || text.length > 512) {
    throw new PortholeError('PARAMETER_INVALID', `invalid URL ${quoteInput(text)}: expected only a host and a port`);
  }
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  return { url: url.origin, isTls, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}

const MEMBER_ID = /^[A-Za-z0-9.:_-]{1,128}$/;

export function isMemberId(id: string): boolean {
  // Ids are used in paths and as object keys, where these have a special meaning.
  return MEMBER_ID.test(id) && id !== '.' && id !== '..' && !(id in Object.prototype);
}

/** Throws PARAMETER_INVALID for an invalid member id. */
export function checkMemberId(id: string): string {
  if (!isMemberId(id)) {
    throw new PortholeError(
      'PARAMETER_INVALID',
      `invalid member id ${quoteInput(id)}: expected at most 128 letters, digits and .:_-`,
    );
  }
  return id;
}
