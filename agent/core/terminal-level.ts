import { TERMINAL_LEVELS } from '../../protocol/index.ts';
import type { TerminalLevel } from '../../protocol/index.ts';

/** Whether an agent whose configuration allows terminals up to a level opens one of another level. */
export function allowsTerminal(highest: 'off' | TerminalLevel, level: TerminalLevel): boolean {
  return highest !== 'off' && TERMINAL_LEVELS.indexOf(level) <= TERMINAL_LEVELS.indexOf(highest);
}
