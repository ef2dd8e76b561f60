import type { Inventory } from '../../protocol/index.ts';

/** An agent's facts about a router that does not exist. */
export function inventedFacts(hardwareId: string, identity = hardwareId): Inventory['facts'] {
  return {
    hardware_id: hardwareId,
    serial_number: hardwareId,
    software_id: null,
    identity,
    software_version: '7.18.2',
    model: 'RB750Gr3',
    board_name: 'hEX',
    hardware_board: true,
    architecture: 'mmips',
    time_zone: null,
    uptime: '1d',
    uptime_seconds: 86_400,
  };
}
