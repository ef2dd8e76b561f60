import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { judgeAudit, readDecisions } from './audit/judge.ts';

/**
 * Asks the registry for known weaknesses of what package-lock.json names, and holds the answer to the decisions in
 * docs/security/advisories.json. Exit codes: 0 every finding is decided, or the registry does not tell; 1 a finding without a decision.
 */

/** `npm audit` asks one question; a registry that hangs must not hold up the tests. */
const TIMEOUT_MS = 120_000;
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

const decisions = readDecisions(await readFile(new URL('../docs/security/advisories.json', import.meta.url), 'utf8'));
const { stdout, error } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: MAX_REPORT_BYTES });
const verdict = judgeAudit(error ? error.message : stdout, decisions);
process.stdout.write(`${verdict.lines.join('\n')}\n`);
process.exitCode = verdict.isFine ? 0 : 1;
