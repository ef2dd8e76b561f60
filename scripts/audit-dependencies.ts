import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { judgeAudit, readDecisions } from './audit/judge.ts';

/**
 * Asks the registry for advisories against package-lock.json and compares them with the decisions in
 * docs/security/advisories.json. Exit codes: 0 every finding has a decision, or the registry does not answer; 1 otherwise.
 */

/** `npm audit` sends one request; a registry that hangs must not delay the tests. */
const TIMEOUT_MS = 120_000;
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

const decisions = readDecisions(await readFile(new URL('../docs/security/advisories.json', import.meta.url), 'utf8'));
const { stdout, error } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: MAX_REPORT_BYTES });
const verdict = judgeAudit(error ? error.message : stdout, decisions);
process.stdout.write(`${verdict.lines.join('\n')}\n`);
process.exitCode = verdict.isFine ? 0 : 1;
