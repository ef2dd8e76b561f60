import { existsSync } from 'node:fs';

/** Debian's Chromium. */
export const CHROMIUM_PATH = '/usr/bin/chromium';
export const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
export const isChromiumMissing = !existsSync(CHROMIUM_PATH);
