#!/usr/bin/env node
// With `bootstrap/` the only code that must run on whatever Node is at hand (20 or later): it installs what package-lock.json
// names if that is missing or stale, then hands over to Node 24, which comes out of node_modules.
// Usage: node scripts/bootstrap.mjs <script in scripts/, without .ts> [arguments]
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import process from 'node:process';
import { installPackages } from './bootstrap/install.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const modules = path.join(root, 'node_modules');
const node24 = path.join(modules, '.bin', 'node');
// npm writes this file last, so an interrupted or outdated installation is repeated.
const installedLock = path.join(modules, '.package-lock.json');

function isInstalled() {
  if (!existsSync(node24) || !existsSync(installedLock)) return false;
  return statSync(installedLock).mtimeMs >= statSync(path.join(root, 'package-lock.json')).mtimeMs;
}

async function install() {
  const code = await installPackages(root);
  if (code !== 0) process.exit(code);
  if (!existsSync(node24)) {
    process.stderr.write('No Node 24 binary for this platform: Linux on x64 or arm64 is needed, installed without --omit=optional.\n');
    process.exit(1);
  }
}

/**
 * Runs `file` (relative to the project) with Node 24 and the caller's terminal, and exits with its code. `nodeFlags` go to Node
 * itself.
 */
export async function runWithNode24(file, args, nodeFlags = []) {
  if (!isInstalled()) await install();
  const child = spawn(node24, ['--disable-warning=ExperimentalWarning', ...nodeFlags, path.join(root, file), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${path.join(modules, '.bin')}${path.delimiter}${process.env.PATH ?? ''}` },
  });
  // A terminal sends Ctrl-C to the whole group; a service manager signals only this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  endWithNpm(child);
  child.on('error', (error) => {
    process.stderr.write(`cannot start Node 24: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}

/** npm does not forward SIGTERM: a demo or simulator would outlive its `npm run`. */
function endWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) child.kill('SIGTERM');
  }, 500).unref();
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [script, ...args] = process.argv.slice(2);
  await runWithNode24(path.join('scripts', `${script}.ts`), args);
}
