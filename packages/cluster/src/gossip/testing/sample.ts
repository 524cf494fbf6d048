import type { MemberSample } from '@porthole/contract';

export function fakeSample(given: Partial<MemberSample> = {}): MemberSample {
  const node = { hostIp: '10.0.0.1', hostName: 'n', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };
  return {
    node,
    role: 'node',
    labels: {},
    timeZone: 'UTC',
    uptimeMs: 1000,
    lastRecordAgeMs: 5,
    recentErrors: 0,
    problems: [],
    ...given,
  };
}
