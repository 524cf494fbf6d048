import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { getRoute } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { loadDeployedSettings, readDeployed } from './testing/deployed-settings.ts';
import { IMAGE_ENV, instructionArgs, instructionTexts, STAGES } from './testing/dockerfile.ts';

const root = join(import.meta.dirname, '..');
const [build, install, last] = STAGES;

describe('deploy/docker/Dockerfile', () => {
  it('starts from images with a version, and hands nothing on but the installation', () => {
    expect(STAGES.length).toBe(3);
    for (const [from] of STAGES) expect(from?.text).toMatch(/^\S+24\S*(:| AS |$)/);
    expect(instructionTexts(build, 'COPY')).toEqual(['. .']);
    expect(instructionTexts(build, 'RUN')).toEqual(['npm run pack']);
    expect(instructionTexts(install, 'COPY')).toEqual(['--from=build /src/release/ ./']);
    for (const text of instructionTexts(last, 'COPY')) expect(text).toMatch(/^--from=install /);
    expect(existsSync(join(root, 'scripts/pack.mjs'))).toBe(true);
  });

  it('runs as nobody in particular, without a shell', () => {
    expect(instructionTexts(last, 'USER')).toEqual(['65532:65532']);
    expect(instructionTexts(last, 'RUN')).toEqual([]);
    expect(instructionArgs('ENTRYPOINT')).toEqual([
      '/nodejs/bin/node',
      '/opt/porthole/node_modules/porthole/bin/porthole.cjs',
    ]);
    expect(instructionArgs('HEALTHCHECK')[0]).toBe('/nodejs/bin/node');
  });

  it('has a command and settings that exist, and does not start without tokens', async () => {
    const [command, ...words] = instructionArgs('CMD');
    expect(command).toBe('serve');
    await expect(loadDeployedSettings(words, IMAGE_ENV)).rejects.toThrow('auth.token-file');
    const { settings } = await loadDeployedSettings(words, { ...IMAGE_ENV, PORTHOLE_AUTH_TOKEN_FILE: '/tokens' });
    expect(instructionTexts(last, 'EXPOSE')).toEqual([`${settings.http.port} ${settings.grpc.port}`]);
    expect(IMAGE_ENV.HEALTH_URL).toBe(`http://127.0.0.1:${settings.http.port}${getRoute('live').path}`);
    expect(instructionArgs('VOLUME').some((path) => settings.logging.dir.startsWith(`${path}/`))).toBe(true);
    expect(instructionArgs('VOLUME')).toContain(IMAGE_ENV.TMPDIR);
  });

  it('keeps what was built and installed here out of the image', () => {
    const ignored = readDeployed('docker/Dockerfile.dockerignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['**/node_modules', '**/dist', 'release', '.git']));
  });
});
