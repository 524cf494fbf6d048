import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import type { PartialSettings } from '../../settings/settings.ts';
import { startTestNode, type TestNode, type TestNodeOptions } from '../../testing/test-node.ts';
import { createToken } from '../tokens.ts';
import { type Certificate, createAuthority, issue, issueForNode } from './certificates.ts';
import { AUDIENCE, createSigner, ISSUER, type Signer, toKeySet } from './jwt-maker.ts';

/** A node that takes every kind of credentials. */
export interface GuardedNode extends TestNode {
  /** Where the files with its credentials are. */
  files: string;
  authority: Certificate;
  signer: Signer;
  tokenFile: string;
  keysFile: string;
  certificate: Certificate;
  tokens: Record<string, string>;
  /** A certificate of the authority; `CN:viewer` and so on give the role of that name. */
  issueCertificate(name: string): Certificate;
}

export const ROLE_NAMES: Readonly<Record<string, readonly Role[]>> = {
  none: [],
  viewer: ['viewer'],
  config: ['config'],
  admin: ['admin'],
};

/** Names are `none`, `viewer`, `config` and `admin`: as tokens, as groups of JWTs and as names in certificates. */
export async function startGuardedNode({ settings = {}, ...options }: TestNodeOptions = {}): Promise<GuardedNode> {
  const files = tempDir();
  const authority = createAuthority(files);
  const certificate = issueForNode(authority, files);
  const signer = createSigner('key-1');
  const [tokenFile, keysFile] = [join(files, 'tokens'), join(files, 'keys.json')];
  const created = Object.keys(ROLE_NAMES).map((name) => ({ name, ...createToken(name, [name]) }));
  writeFileSync(tokenFile, created.map(({ line }) => `${line}\n`).join(''));
  writeFileSync(keysFile, JSON.stringify(toKeySet(signer)));
  const rules = ['viewer', 'config', 'admin'].map((name) => `${name}=${name}`);
  const guarded: PartialSettings = {
    ...settings,
    tls: { certFile: certificate.certFile, keyFile: certificate.keyFile },
    auth: {
      tokenFile,
      jwksFile: keysFile,
      jwtIssuer: ISSUER,
      jwtAudience: AUDIENCE,
      jwtRoles: rules,
      clientCaFile: authority.certFile,
      clientRoles: rules.map((rule) => `CN:${rule}`),
      maxFailuresPerMinute: 0,
      ...settings.auth,
    },
  };
  const node = await startTestNode({ ...options, settings: guarded });
  const tokens = Object.fromEntries(created.map(({ name, token }) => [name, token]));
  const issueCertificate = (name: string) => issue(authority, files, name);
  return {
    ...node,
    files,
    authority,
    signer,
    tokenFile,
    keysFile,
    certificate,
    tokens,
    issueCertificate: issueCertificate,
  };
}
