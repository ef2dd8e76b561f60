import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';

export interface TestSummary {
  passed: number;
  failed: number;
  skipped: number;
  /** Files with a failure, relative to the project. */
  failedFiles: string[];
}

export function summaryLine({ passed, failed, skipped }: TestSummary): string {
  return `Tests: ${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Ends the run with one plain line that any CI can read: `Tests: 120 passed, 0 failed, 3 skipped`.
 * `TEST_SUMMARY_FILE` names a file that gets the same as JSON, for a script that reads it.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const failedFiles = new Set<string>();
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that cannot be loaded has no tests, and must not look like success.
      if (module.errors().length > 0) counts.failed += 1;
      if (!module.ok()) failedFiles.add(path.relative(process.cwd(), module.moduleId));
    }
    const summary: TestSummary = {
      passed: counts.passed,
      failed: counts.failed,
      skipped: counts.skipped + counts.pending,
      failedFiles: [...failedFiles],
    };
    process.stdout.write(`\n${summaryLine(summary)}\n`);
    const file = process.env['TEST_SUMMARY_FILE'];
    if (file) writeFileSync(file, JSON.stringify(summary));
  }
}
