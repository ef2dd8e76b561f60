export { parseAttribute } from './framing.ts';
export { RouterTraps, type Trap } from './errors.ts';
export { type CommandOptions, connectRouterOsApi, type RouterOsApi, type RouterOsApiOptions } from './session.ts';
