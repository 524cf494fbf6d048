// @ts-check
import { chromium } from 'playwright-core';
import { ensurePrograms } from './programs.mjs';

/* The browser of the system, for tests, measurements and pictures. */

/**
 * The pages of the address bar, which nobody sees here, cost a second of a core for every profile, and a process kept ready
 * for the next page a twentieth for every page. Who names features takes
 * the place of Playwright's own list: those of it that matter on Linux follow.
 */
const FEATURES_OFF = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

const ARGUMENTS = [
  '--headless',
  '--no-sandbox', // tests may run as root, for whom Chromium has no sandbox
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${FEATURES_OFF.join(',')}`,
];

/** With a profile of its own, which is gone when it is closed. */
export function launchChromium() {
  const executablePath = ensurePrograms(['chromium']).get('chromium') ?? 'chromium';
  return chromium.launch({ executablePath, args: ARGUMENTS });
}
