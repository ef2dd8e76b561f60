/**
 * `npm test`: lint, format, types and the dependency rule, then every test. Arguments go to vitest
 * (`npm test -- jobs` runs the files whose name contains "jobs").
 *
 * With `TEST_SECOND_RUN=1`, as in CI, a few files that failed run a second time, alone on the machine. Other load can
 * make the first run miss a deadline; a defect fails again. The files that only the second run passed are named.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { summaryLine } from '../test/harness/summary-reporter.ts';
import type { TestSummary } from '../test/harness/summary-reporter.ts';

interface Check {
  name: string;
  command: string;
  args: string[];
}

const checks: Check[] = [
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'format (npm run format mends it)', command: 'oxfmt', args: ['--check', '.'] },
  { name: 'types', command: 'tsc', args: ['--pretty', 'false'] },
  { name: 'types of the console', command: 'tsc', args: ['--pretty', 'false', '-p', 'console'] },
  {
    name: 'dependency rule',
    command: 'depcruise',
    // Nothing may import a test, so the tests themselves are not read (their `await using` is newer than the parser).
    args: ['--output-type', 'err', 'runtime', 'routeros-text', 'protocol', 'server', 'agent', 'client', 'console', 'scripts'],
  },
];

/** With more failed files than this, one in a hundred, chance is no explanation. */
const MOST_SECOND_RUNS = 6;

function run(command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

async function runTests(args: string[]): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalbox-test-'));
  const file = path.join(folder, 'summary.json');
  const summarized = async (...vitestArgs: string[]): Promise<{ code: number; summary: TestSummary }> => {
    const code = await run('vitest', ['run', ...vitestArgs], {
      TEST_SUMMARY_FILE: file,
      // The programs that tests start hundreds of times read their modules compiled.
      NODE_COMPILE_CACHE: path.join(folder, 'compiled'),
    });
    return { code, summary: JSON.parse(await readFile(file, 'utf8')) as TestSummary };
  };
  try {
    const first = await summarized(...args);
    const { failedFiles } = first.summary;
    const isWorthIt = process.env['TEST_SECOND_RUN'] === '1' && failedFiles.length > 0 && failedFiles.length <= MOST_SECOND_RUNS;
    if (first.code === 0 || !isWorthIt) return first.code;
    process.stdout.write(`\n> second run, alone: ${failedFiles.join(' ')}\n`);
    const second = await summarized('--no-file-parallelism', ...failedFiles);
    if (second.code === 0) process.stdout.write(`\nUnstable: passed by the second run only: ${failedFiles.join(' ')}\n`);
    process.stdout.write(`${summaryLine(together(first.summary, second.summary))}\n`);
    return second.code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Counts all tests, each by its last run. */
function together(first: TestSummary, second: TestSummary): TestSummary {
  const total = first.passed + first.failed;
  return { passed: total - second.failed, failed: second.failed, skipped: first.skipped, failedFiles: second.failedFiles };
}

const only = process.argv.slice(2);
if (only.length === 0) {
  for (const check of checks) {
    process.stdout.write(`> ${check.name}\n`);
    const code = await run(check.command, check.args);
    if (code !== 0) {
      process.stderr.write(`${check.name} failed\n`);
      process.exit(code);
    }
  }
}
process.exitCode = await runTests(only);
