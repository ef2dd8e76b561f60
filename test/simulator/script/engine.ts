import { setTimeout as wait } from 'node:timers/promises';
import type { MenuTree, ScriptEngine, ScriptResult, Session } from '../menu/types.ts';
import type { Block } from './ast.ts';
import { describeFailure } from './builtins-control.ts';
import { createBuiltins } from './builtins-values.ts';
import { createDialect, type Dialect } from './dialect.ts';
import { Environment } from './environment.ts';
import { Interrupted, ScriptFailure, SyntaxFailure, ValueFailure } from './errors.ts';
import { createMachine } from './interpreter.ts';
import type { Machine } from './machine.ts';
import { runMenu } from './menu-commands.ts';
import { parseScript } from './parser.ts';
import { toText, type Value } from './values.ts';
import { isAtLeast } from './versions.ts';

export interface ScriptEngineOptions {
  /** RouterOS version, e.g. `7.23.3`: decides which commands exist and how errors read. A function, if it may change. */
  readonly version?: string | (() => string);
  /** Global variables of a user. They belong to the router, which forgets them when it boots. */
  readonly globals?: (user: string) => Map<string, Value>;
  /** Waits for `:delay`; resolves early when the signal aborts. Real time when absent. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The router's clock in milliseconds, for `:time` and `:timestamp`. */
  readonly now?: () => number;
  /** Where `print file=` goes. */
  readonly saveFile?: (name: string, contents: string, session: Session) => void;
  /**
   * Which errors are printed with `(/ip/address/add; line 1)` behind them. Measured on 7.2x for `:error` and refused
   * permissions only (the default); `all` adds it to the others, `none` is how 6.x reads.
   */
  readonly places?: 'measured' | 'all' | 'none';
}

/** The script language over a router's menus. */
export function createScriptEngine(menus: MenuTree, options: ScriptEngineOptions = {}): ScriptEngine {
  const globals = options.globals ?? keepGlobals();
  return {
    run: (source, session, write) => {
      const version = typeof options.version === 'function' ? options.version() : (options.version ?? '7.23.3');
      const run: Run = { menus, options, session, write, version, dialect: createDialect(menus, version), globals: globals(session.user) };
      return runSource(run, source);
    },
  };
}

interface Run {
  readonly menus: MenuTree;
  readonly options: ScriptEngineOptions;
  readonly session: Session;
  readonly write: (text: string) => void;
  readonly version: string;
  readonly dialect: Dialect;
  readonly globals: Map<string, Value>;
}

function keepGlobals(): (user: string) => Map<string, Value> {
  const byUser = new Map<string, Map<string, Value>>();
  return (user) => {
    const known = byUser.get(user) ?? new Map<string, Value>();
    byUser.set(user, known);
    return known;
  };
}

async function runSource(run: Run, source: string): Promise<ScriptResult> {
  // On a console the user's global variables are in view without a `:global`; a script has to ask for each.
  const shared = run.session.origin === 'ssh' || run.session.origin === 'console' ? [...run.globals.keys()] : [];
  let body: Block;
  try {
    body = parseScript(source, run.dialect, { declared: shared });
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    run.write(`${error.message}\r\n`);
    return { error: error.message, syntaxError: true };
  }
  const env = new Environment(run.globals);
  for (const name of shared) env.ask(name);
  return execute(run, body, env);
}

async function execute(run: Run, body: Block, env: Environment): Promise<ScriptResult> {
  try {
    const outcome = await startMachine(run).runBlock(body, env);
    return outcome.returned ? { returned: toText(outcome.value) } : {};
  } catch (error) {
    if (!(error instanceof ScriptFailure) && !(error instanceof Interrupted)) throw error;
    const text = error instanceof ScriptFailure ? printedError(run, error) : error.message;
    run.write(`${text}\r\n`);
    return text === error.message ? { error: text } : { error: error.message, printed: text };
  }
}

function printedError(run: Run, error: ScriptFailure): string {
  const places = run.options.places ?? (isAtLeast(run.version, '7.8') ? 'measured' : 'none');
  if (places === 'none') return error.message;
  // An error that came out of a script run by this one has its own place already.
  const isMeasured = error.origin === ':error' || error.message === 'not enough permissions (9)';
  return places === 'all' || isMeasured ? describeFailure(error) : error.message;
}

function startMachine(run: Run): Machine {
  const { options, session } = run;
  const sleep = options.sleep ?? sleepReally;
  return createMachine({
    menus: run.menus,
    session,
    dialect: run.dialect,
    version: run.version,
    globals: run.globals,
    builtins: createBuiltins(),
    runMenu,
    write: run.write,
    sleep: (ms) => sleep(ms, session.signal),
    now: options.now ?? Date.now,
    saveFile: (name, contents) => {
      if (options.saveFile === undefined) throw new ValueFailure('failure: cannot write file');
      options.saveFile(name, contents, session);
    },
  });
}

async function sleepReally(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(Math.min(ms, 2_147_483_647), undefined, { signal });
  } catch {
    // Only the signal rejects; the caller looks at it next.
  }
}
