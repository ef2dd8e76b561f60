import { loadConfig } from '../../config.ts';
import { configurationWarnings } from '../../config-warnings.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import type { Log } from '../../platform/core/log.ts';
import { unbuiltParts } from '../unbuilt.ts';
import { checkDatabase } from './database.ts';
import { checkNetwork } from './network.ts';
import { fail, ok, warn } from './types.ts';
import type { Finding } from './types.ts';

/** Checks everything that `serve` needs, without changes. One error does not hide the others. */
export async function examine(env: Readonly<Record<string, string | undefined>> | undefined, log: Log): Promise<Finding[]> {
  let config: Config;
  try {
    config = await loadConfig(env);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return Object.entries(error.errors ?? {}).flatMap(([setting, reasons]) =>
      reasons.map((reason) => fail('configuration', `${setting} ${reason}`)),
    );
  }
  return [
    ...configurationFindings(config),
    ...buildFindings(),
    ...(await checkDatabase(config, { clock: systemClock, log })),
    ...(await checkNetwork(config, systemClock.now())),
  ];
}

function configurationFindings(config: Config): Finding[] {
  const doubts = configurationWarnings(config);
  return doubts.length === 0 ? [ok('configuration', 'all settings are valid')] : doubts.map((doubt) => warn('configuration', doubt));
}

/** Only what is missing: a package has everything. */
function buildFindings(): Finding[] {
  return unbuiltParts().map(({ part, command }) => warn('build', `${part} is not built: ${command} in the clone, then start it again`));
}

/** The findings as a table. */
export function findingsText(findings: readonly Finding[]): string {
  const checkWidth = Math.max(...findings.map(({ check }) => check.length));
  return findings.map(({ check, state, detail }) => `${state.padEnd(4)}  ${check.padEnd(checkWidth)}  ${detail}\n`).join('');
}
