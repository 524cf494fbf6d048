import type { PeerCertificate } from 'node:tls';
import { expect, it } from 'vitest';
import { certificateNames } from './certificate-check.ts';

it.each([
  [{ CN: 'ann' }, undefined, ['CN:ann']],
  [{ CN: ['ann', 'bob'] }, undefined, ['CN:ann', 'CN:bob']],
  [{ O: 'x' }, 'DNS:a.example.org, DNS:b.example.org', ['DNS:a.example.org', 'DNS:b.example.org']],
  [
    { CN: 'n' },
    'URI:spiffe://x/y, email:a@b.org, IP Address:10.0.0.7, IP Address:FD00:0:0:0:0:0:0:1',
    ['CN:n', 'URI:spiffe://x/y', 'EMAIL:a@b.org', 'IP:10.0.0.7', 'IP:FD00:0:0:0:0:0:0:1'],
  ],
  [{}, 'DNS:"a, DNS:admin.example.org"', ['DNS:a, DNS:admin.example.org']],
  [{}, 'URI:"x\\", DNS:admin.example.org", DNS:b', ['URI:x", DNS:admin.example.org', 'DNS:b']],
  [{}, 'othername:<unsupported>, DNS:b', ['DNS:b']],
  [{}, 'DNS:a, DNS:"unfinished', []],
  [{}, '', []],
])('subject %j with the names %j is %j', (subject, subjectaltname, names) => {
  expect(certificateNames({ subject, subjectaltname } as unknown as PeerCertificate)).toEqual(names);
});
