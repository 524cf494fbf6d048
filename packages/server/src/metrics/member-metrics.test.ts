import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: of the member\n';

it('a member is in the metrics of a node of a small cluster, with what differs between them', async () => {
  const member = await startTestNode({ files: { 'a.log': LINE } });
  const cluster = { nodeId: 'self', members: [`m=http://127.0.0.1:${member.port}`], refreshMs: 200 };
  const { port } = await startTestNode({ settings: { cluster } });
  await eventually(async () => {
    const text = (await sendRequest(port, '/metrics')).body.toString();
    const read = (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1],
      );
    expect(read('porthole_member_up{member="m"}')).toBe(1);
    expect(read('porthole_member_last_record_age_seconds{member="m"}')).not.toBeNaN();
    // Its events are recorded with its log.
    expect(read('porthole_recorded_bytes{member="m"}')).toBeGreaterThanOrEqual(LINE.length);
    expect(read('porthole_recorded_age_seconds{member="m"}')).toBeLessThan(60);
    expect(read('porthole_duplicate_id')).toBe(0);
    expect(read('porthole_config_compared_members')).toBe(2);
    // Only one of them names the other.
    expect(read('porthole_config_drift_keys')).toBeGreaterThan(0);
  });
});
