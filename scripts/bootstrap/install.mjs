// `npm ci` with progress, and with one clear line when the registry cannot be reached. Runs on any Node from 20 on.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import readline from 'node:readline';

/** Interval of progress lines when the output is not a terminal, milliseconds. */
const TELL_EVERY_MS = 5000;
/**
 * npm waits up to 10, then 60 seconds between tries by default: two minutes of silence on a machine without network.
 * Three attempts within some seconds are enough for a registry that is slow once.
 */
const RETRY_OPTIONS = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];

/** npm's error codes for an unreachable registry. */
const UNREACHABLE = new Set([
  'EAI_AGAIN',
  'ENOTFOUND',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_SOCKET_TIMEOUT',
]);

/**
 * Meaning of one line of npm's log at level `http`, for the progress display.
 * @param {string} line
 * @returns {{ kind: 'package' } | { kind: 'retry' | 'failed', code: string } | { kind: 'error', text: string } | undefined}
 */
export function readNpmLine(line) {
  if (/^npm http (?:fetch GET 200|cache) \S+\.tgz\b/.test(line)) return { kind: 'package' };
  const retry = /^npm http fetch GET \S+ attempt \d+ failed with (\w+)/.exec(line);
  if (retry) return { kind: 'retry', code: retry[1] };
  const failed = /^npm error code (\w+)/.exec(line);
  if (failed) return { kind: 'failed', code: failed[1] };
  const error = /^npm error (.+)/.exec(line);
  return error ? { kind: 'error', text: error[1] } : undefined;
}

/**
 * Installs what package-lock.json names. Standard output stays empty: `signalbox --json` prints one object there.
 * @param {string} root folder of package.json
 * @param {NodeJS.WriteStream} [out]
 * @returns {Promise<number>} exit code; 0 when everything is installed
 */
export async function installPackages(root, out = process.stderr) {
  const progress = new Progress(countPackages(root), out);
  const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=http', ...RETRY_OPTIONS], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.resume();
  const passOn = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, passOn);
  const errors = [];
  let code = '';
  readline.createInterface({ input: child.stderr }).on('line', (line) => {
    const read = readNpmLine(line);
    if (read?.kind === 'package') progress.count();
    if (read?.kind === 'retry') progress.retry(read.code);
    if (read?.kind === 'failed') code = read.code;
    if (read?.kind === 'error') errors.push(read.text);
  });
  const exitCode = await new Promise((resolve) => {
    child.on('error', (error) => {
      errors.push(error.message);
      resolve(1);
    });
    child.on('close', (status) => resolve(status ?? 1));
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, passOn);
  progress.end(exitCode === 0);
  if (exitCode !== 0) out.write(failure(code, errors));
  return exitCode;
}

function failure(code, errors) {
  if (UNREACHABLE.has(code)) {
    return `No network: the npm registry cannot be reached (${code}). Connect this machine, or set npm's proxy or registry, and try again.\n`;
  }
  return `npm ci failed${code === '' ? '' : ` (${code})`}:\n${errors.map((text) => `  ${text}\n`).join('')}`;
}

/** Approximate number of packages for this machine: the lock file also names those for other systems, which are not fetched. */
function countPackages(root) {
  const { packages = {} } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const fits = ({ os, cpu, libc }) =>
    (os ?? [process.platform]).includes(process.platform) &&
    (cpu ?? [process.arch]).includes(process.arch) &&
    (libc ?? ['glibc']).includes('glibc');
  return Object.entries(packages).filter(([name, entry]) => name !== '' && fits(entry)).length;
}

/** One line that is rewritten on a terminal, a new line every few seconds elsewhere. */
class Progress {
  #done = 0;
  #total;
  #out;
  #toldRetry = false;
  #startedAt = Date.now();
  #timer;

  constructor(total, out) {
    this.#total = total;
    this.#out = out;
    this.#out.write(`Installing ${total} packages (once, up to a minute) ...\n`);
    this.#timer = setInterval(() => this.#tell(), out.isTTY ? 250 : TELL_EVERY_MS);
  }

  count() {
    this.#done = Math.min(this.#done + 1, this.#total);
  }

  retry(code) {
    if (this.#toldRetry) return;
    this.#toldRetry = true;
    this.#out.write(`${this.#out.isTTY ? '\n' : ''}The npm registry does not answer (${code}); trying again ...\n`);
  }

  end(isInstalled) {
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#out.write('\r\u001b[K');
    if (isInstalled) this.#out.write(`Installed in ${this.#seconds()} s.\n`);
  }

  #tell() {
    const unpacking = this.#done === this.#total ? ', unpacking' : '';
    const text = `  ${this.#done} of ${this.#total} packages${unpacking}, ${this.#seconds()} s`;
    this.#out.write(this.#out.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
  }

  #seconds() {
    return Math.round((Date.now() - this.#startedAt) / 1000);
  }
}
