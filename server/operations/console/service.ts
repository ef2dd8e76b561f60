import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { BUILT } from '../../built.ts';
import type { ConsoleFiles } from './types.ts';

/** Vite's `html.cspNonce` writes it. */
const NONCE_PLACE = '__NONCE__';

/** @returns null without a build: a source checkout in which nobody has built the console */
export function readConsole(folder = path.join(BUILT, 'console')): ConsoleFiles | null {
  try {
    const document = (name: string) => documentAt(path.join(folder, name));
    const [page, terminal, pushWorker] = [document('index.html'), document('terminal.html'), document('push-worker.js')];
    return {
      folder,
      get page() {
        return page();
      },
      get terminal() {
        return terminal();
      },
      get pushWorker() {
        return pushWorker();
      },
    };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * A document as it is on the disk now: an upgrade replaces it below a running control plane, together with the files that it names. While it is
 * being replaced, the last one stays.
 * @throws when it cannot be read the first time
 */
function documentAt(file: string): () => string {
  let [text, changedAt] = [readFileSync(file, 'utf8'), statSync(file).mtimeMs];
  return () => {
    try {
      const { mtimeMs } = statSync(file);
      if (mtimeMs !== changedAt) [text, changedAt] = [readFileSync(file, 'utf8'), mtimeMs];
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return text;
  };
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

export interface ConsolePage {
  html: string;
  /** The content security policy of this answer. */
  policy: string;
}

/** The page with a nonce of its own. */
export function pageOf({ page }: ConsoleFiles): ConsolePage {
  const nonce = randomBytes(16).toString('base64');
  return { html: page.replaceAll(NONCE_PLACE, nonce), policy: pagePolicy(nonce) };
}

/**
 * Everything from this origin, nothing inline but style sheets with the nonce. `connect-src 'self'` includes WebSockets of this origin. Text
 * becomes HTML or a script's address only by the application's one Trusted Types policy (console/src/trusted-types.ts).
 */
function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    // Only the terminal.
    "frame-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
}

/**
 * The terminal's document has no nonce, which would switch 'unsafe-inline' off: its library makes style elements and attributes. It has no access
 * token, only one-use tickets, and only this origin may frame it.
 */
export const TERMINAL_POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** A worker has the policy of its own answer and not that of the page. */
export const ASSET_POLICY =
  "default-src 'none'; connect-src 'self'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
