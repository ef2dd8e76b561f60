import { cleanText } from '../routeros-text/router-text.ts';
import type { Inventory, RouterHeartbeat, TerminalLevel } from '../protocol/index.ts';
import { allowsTerminal } from './core/terminal-level.ts';
import type { RouterAdapter, RouterFacts } from './routers/adapter.ts';

/** A router's state for the heartbeat. @param now monotonic */
export function toHeartbeat(router: RouterAdapter, now: number): RouterHeartbeat {
  const { reachable, facts, reason, reasonCode = 'unknown', silentSince } = router.state();
  return {
    name: router.name,
    reachable,
    uptime_seconds: reachable ? (facts?.uptimeSeconds ?? null) : null,
    reason: reason === null ? null : cleanText(reason, 300),
    ...(reachable ? {} : { reason_code: reasonCode }),
    ...(reachable || silentSince === undefined ? {} : { silent_ms: Math.round(now - silentSince) }),
  };
}

/**
 * A router's identity for the inventory.
 * @param highest `terminal` of the configuration
 */
export function toInventory(
  { name, host, terminalLevels }: Pick<RouterAdapter, 'name' | 'host' | 'terminalLevels'>,
  facts: RouterFacts,
  highest: 'off' | TerminalLevel,
): Inventory {
  return {
    type: 'inventory',
    router: name,
    host: cleanText(host, 255),
    facts: {
      hardware_id: facts.hardwareId,
      serial_number: facts.serialNumber,
      software_id: facts.softwareId,
      identity: facts.identity,
      software_version: facts.softwareVersion,
      model: facts.model,
      board_name: facts.boardName,
      hardware_board: facts.hardwareBoard,
      architecture: facts.architecture,
      time_zone: facts.timeZone,
      uptime: facts.uptime,
      uptime_seconds: facts.uptimeSeconds,
      terminal_levels: terminalLevels.filter((level) => allowsTerminal(highest, level)),
    },
  };
}
