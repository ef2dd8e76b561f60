/** RouterOS lines that install an agent in a container on a router and remove it again (docs/agent-in-routeros.md). */
export { setupLines } from './setup.ts';
export { undoLines } from './undo.ts';
export { readRouterSetup, ROUTEROS_OPTIONS } from './options.ts';
