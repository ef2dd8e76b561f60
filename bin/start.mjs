// Starts a program of this folder with Node 24. A checkout runs the sources; the package has them compiled in dist/.
// This must run on whatever Node is at hand (20 or later).
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const NEEDED = 24;

/**
 * @param {{ source: string, packaged: string, nodeFlags?: string[] }} program files relative to the project; `packaged` needs no flags
 * @param {string[]} args
 */
export async function start({ source, packaged, nodeFlags = [] }, args) {
  const bootstrap = path.join(root, 'scripts', 'bootstrap.mjs');
  if (existsSync(bootstrap)) {
    const { runWithNode24 } = await import(pathToFileURL(bootstrap).href);
    return runWithNode24(source, args, nodeFlags);
  }
  const file = path.join(root, packaged);
  if (Number.parseInt(process.versions.node, 10) >= NEEDED) return runHere(file, args);
  return runWith(node24(), file, args);
}

/** No second process: a service manager sees the program itself. */
async function runHere(file, args) {
  process.argv = [process.argv[0], file, ...args];
  await import(pathToFileURL(file).href);
}

function runWith(node, file, args) {
  const child = spawn(node, [file, ...args], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to the whole group; a service manager signals only this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`cannot start Node ${NEEDED} at ${node}: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}

/** The Node that npm has installed with this package. */
function node24() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return fail(
      `Node ${NEEDED} or later is needed; this is ${process.version}, and none was installed with the package. ` +
        'Install Node 24, or install the package on Linux (x64 or arm64) without --omit=optional.',
    );
  }
}

function fail(message) {
  process.stderr.write(`signalbox: ${message}\n`);
  process.exit(1);
}
