import { describe, expect, it } from 'vitest';
import { viewConfig } from './config-view.ts';
import { UNREAD_CORPUS } from './testing/unread-corpus.ts';

describe('of a configuration without a reader the secrets are masked, and what is none is shown', () => {
  it.each(UNREAD_CORPUS)('$path', async ({ path, text }) => {
    const { source, toml, settings } = await viewConfig([{ path, text }], []);
    const shown = [source, toml, JSON.stringify(settings.flat)];
    expect(shown.flatMap((each) => each.match(/.*S3CR3T.*/g) ?? [])).toEqual([]);
    expect(source.match(/keep/gi) ?? []).toEqual(text.match(/keep/gi) ?? []);
  });
});
