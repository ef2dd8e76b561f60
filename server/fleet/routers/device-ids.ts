import type { Inventory } from '../../../protocol/index.ts';
import { deviceIdProblem } from '../../../routeros-text/router-text.ts';

/** Why these facts cannot identify a router, naming the field; undefined when they can. */
export function deviceProblem({
  hardware_id: hardwareId,
  serial_number: serialNumber,
  software_id: softwareId,
}: Inventory['facts']): string | undefined {
  return (
    deviceIdProblem('hardware_id', hardwareId) ??
    deviceIdProblem('serial_number', serialNumber) ??
    deviceIdProblem('software_id', softwareId)
  );
}
