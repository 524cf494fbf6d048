import { chromium } from 'playwright-core';
import { ensurePrograms } from './programs.mjs';

/* The browser of the system, for tests, measurements and pictures. */

const ARGUMENTS = [
  '--headless',
  '--no-sandbox', // tests may run as root, for whom Chromium has no sandbox
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** With a profile of its own, which is gone when it is closed. */
export function launchChromium() {
  const executablePath = ensurePrograms(['chromium']).get('chromium');
  return chromium.launch({ executablePath, args: ARGUMENTS });
}
