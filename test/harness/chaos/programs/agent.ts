/**
 * An agent as `signalbox-agent run` starts it, with a clock that can be set wrong and short pauses between dials:
 * `agent.ts <configuration> <clock file>`.
 */
import process from 'node:process';
import pino from 'pino';
import { startAgent } from '../../../../agent/app.ts';
import { loadConfig } from '../../../../agent/config.ts';
import { shiftedClock } from '../shifted-clock.ts';

const [config, clock] = process.argv.slice(2) as [string, string];
await startAgent(await loadConfig(config), {
  clock: shiftedClock(clock),
  log: pino({ level: 'warn' }),
  random: () => Math.random() / 20,
});
