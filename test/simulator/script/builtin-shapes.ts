import { isAtLeast } from './versions.ts';

/** What may follow a global command: how the parser reads its words. */
export interface BuiltinShape {
  /** How many values without a name it takes. */
  readonly positional: number;
  readonly names?: readonly string[];
  /** Names whose `{…}` is a block of commands, not an array. */
  readonly code?: readonly string[];
  /** The positional `{…}` is a block of commands. */
  readonly codeFirst?: boolean;
  /** The first word names variables: `declare` makes them, `assign` needs them to exist. */
  readonly variable?: 'declare' | 'loop' | 'assign';
  /** First version that knows it. */
  readonly since?: string;
}

const oneValue: BuiltinShape = { positional: 1 };

const shapes: Readonly<Record<string, BuiltinShape>> = {
  put: { positional: 1, names: ['message'] },
  error: { positional: 1, names: ['message'] },
  return: { positional: 1, names: ['value'] },
  delay: { positional: 1, names: ['delay-time'] },
  nothing: { positional: 0 },
  quit: { positional: 0 },
  do: { positional: 1, codeFirst: true, names: ['while', 'on-error'], code: ['on-error'] },
  onerror: { positional: 0, variable: 'loop', names: ['in', 'do'], code: ['in', 'do'], since: '7.13' },
  retry: { positional: 0, names: ['command', 'delay', 'max', 'on-error'], code: ['command', 'on-error'], since: '7.10' },
  if: { positional: 1, names: ['do', 'else'], code: ['do', 'else'] },
  foreach: { positional: 0, variable: 'loop', names: ['in', 'do'], code: ['do'] },
  for: { positional: 0, variable: 'loop', names: ['from', 'to', 'step', 'do'], code: ['do'] },
  while: { positional: 1, names: ['do'], code: ['do'] },
  local: { positional: 1, variable: 'declare', names: ['do'], code: ['do'] },
  global: { positional: 1, variable: 'declare', names: ['do'], code: ['do'] },
  set: { positional: 1, variable: 'assign', names: ['do'], code: ['do'] },
  time: { positional: 1, codeFirst: true, names: ['command'], code: ['command'] },
  parse: { positional: 1, codeFirst: true },
  len: oneValue,
  typeof: oneValue,
  tostr: oneValue,
  tonum: oneValue,
  tobool: oneValue,
  toarray: { positional: 1, names: ['delimiter'] },
  toip: oneValue,
  toip6: oneValue,
  totime: oneValue,
  toid: oneValue,
  pick: { positional: 3, names: ['begin', 'end', 'counter'] },
  find: { positional: 3, names: ['where', 'from'] },
  environment: { positional: 1 },
  beep: { positional: 0, names: ['frequency', 'length'] },
  rndnum: { positional: 0, names: ['from', 'to'], since: '7.2' },
  rndstr: { positional: 0, names: ['length', 'from'], since: '7.2' },
  timestamp: { positional: 0, since: '7.13' },
  serialize: { positional: 1, names: ['value', 'to', 'options', 'delimiter'], since: '7.13' },
  convert: { positional: 1, names: ['value', 'from', 'to', 'transform', 'options'], since: '7.12' },
  deserialize: { positional: 1, names: ['value', 'from', 'options', 'delimiter'], since: '7.13' },
};

/** Names of the global commands a version has, and how each is read. */
export function builtinShapes(version: string): ReadonlyMap<string, BuiltinShape> {
  return new Map(Object.entries(shapes).filter(([, shape]) => isAtLeast(version, shape.since ?? '0')));
}
