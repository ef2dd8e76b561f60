/** Lines that put an agent on a router, and take it away again (docs/agent-in-routeros.md). */
export { setupLines } from './setup.ts';
export { undoLines } from './undo.ts';
export { readRouterSetup, ROUTEROS_OPTIONS } from './options.ts';
