import { expect, it } from 'vitest';
import { fakeMasking } from '../testing/fake-masking.ts';

const NODE = { hostIp: '10.0.0.1', hostName: 'a', grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };

it('a configuration larger than this node reads is refused before it is masked', async () => {
  let masked = 0;
  const mask = (text: string) => {
    masked++;
    return text;
  };
  const masking = fakeMasking({ mask, maxConfigBytes: 100 }).forMember();
  const config = (text: string) => ({ config: text, node: NODE });
  await expect(masking.maskConfig(config(`a = "${'ü'.repeat(60)}"`))).rejects.toMatchObject({
    code: 'BAD_ANSWER',
    message: 'its configuration has 126 bytes, more than config.max-bytes (100) of this node',
  });
  expect(masked).toBe(0);
  expect(await masking.maskConfig(config('a = 1'))).toMatchObject({ config: 'a = 1' });
  masking.close();
});
