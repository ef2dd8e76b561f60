import { readConsole } from '../operations/console/service.ts';
import { readAgentRelease } from '../operations/downloads/service.ts';

/** A part of the product that a clone has only after it was built. A package has everything. */
export interface Unbuilt {
  part: string;
  /** Builds it, in the clone. */
  command: string;
}

/** What is not built here, or was built for another version. `serve` reads the parts at its start. */
export function unbuiltParts(): Unbuilt[] {
  return [
    ...(readConsole() === null ? [{ part: 'the web application', command: 'npm run build:console' }] : []),
    ...(readAgentRelease() === null ? [{ part: 'the agent that it hands out', command: 'npm run build:agent' }] : []),
  ];
}
