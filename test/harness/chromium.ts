import { existsSync } from 'node:fs';

/** Debian's Chromium, as people use it. */
export const CHROMIUM_PATH = '/usr/bin/chromium';
/**
 * Debian's build of the same source without windows, menus and sign-in of its own. A new window with one page costs 0.3 s of a processor in it, and
 * 1.3 s in the whole browser. This is the program itself: the one in /usr/bin is a script around it, and killing that leaves the browser.
 */
const SHELL_PATH = '/usr/lib/chromium/chromium-headless-shell';
/** For tests of the pages. Where only the whole browser is installed it does the same, slower. */
export const PAGES_PATH = existsSync(SHELL_PATH) ? SHELL_PATH : CHROMIUM_PATH;
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
