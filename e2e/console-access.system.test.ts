import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { faultsOfPages, faultsOfTokenDialog, startTwo } from './testing/console-faults.ts';
import { openConsole } from './testing/open-console.ts';

const browser = shareBrowser();

describe('in the dark theme axe finds nothing wrong', () => {
  it('on any page, and on any dialog', async () => {
    const { page } = await openConsole(browser(), (await startTwo()).url);
    expect(await faultsOfPages(page, 'dark')).toEqual([]);
  });

  it('where a token is required', async () => {
    expect(await faultsOfTokenDialog(browser(), 'dark')).toEqual([]);
  });
});
