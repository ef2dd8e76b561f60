/**
 * The seam between the simulated router's menus and everything that gives it commands: the API session,
 * the script language (SSH exec, /execute, scheduler, scripts) and the tests.
 */

/** One item as RouterOS prints it: property name to text, in print order, `.id` first where the menu has ids. */
export type Row = ReadonlyMap<string, string>;

/** How a command came in; decides the policy needed (`api`, `ssh`) and what a log line says. */
export type Origin = 'api' | 'ssh' | 'script' | 'scheduler' | 'console';

/** Who runs a command. `signal` aborts when the session goes away, the router reboots or /cancel names it. */
export interface Session {
  readonly user: string;
  readonly policies: ReadonlySet<string>;
  readonly origin: Origin;
  readonly signal: AbortSignal;
  /** Where the session comes from, for logs and /user/active. */
  readonly address?: string;
}

/** A RouterOS error: `!trap` on the API, a line of text on a console. Category as in the API documentation, if any. */
export class Trap extends Error {
  readonly category: number | undefined;
  /** A second error for the same command: some commands answer with two `!trap`. */
  readonly next: Trap | undefined;

  constructor(message: string, category?: number, next?: Trap) {
    super(message);
    this.name = 'Trap';
    this.category = category;
    this.next = next;
  }
}

/** What a command gives back. `rows` become `!re` sentences or console output, `ret` becomes `!done =ret=`. */
export interface CommandResult {
  rows: Row[];
  ret?: string;
  /** What a console shows instead of rows (`/export`), lines separated by CRLF. The API sends nothing of it. */
  text?: string;
}

export interface CommandCall {
  session: Session;
  /** Menu path with slashes, without the command: `/ip/address`. */
  path: string;
  /** `print`, `add`, `set`, `remove`, `enable`, `monitor`, … */
  command: string;
  /** Attribute words (`=name=value`); a presence flag has the value ''. `.proplist` and queries are the API's business. */
  attributes: ReadonlyMap<string, string>;
  /** Receives rows as they come for commands that do not end by themselves (listen, follow, monitor). */
  onRow?: (row: Row) => void;
  /** The console of the caller, if it has one: what a script run by this command prints (`/system/script/run`, `/import`). */
  write?: (text: string) => void;
}

/** The router's menus. Implemented by the menu registry; used by the API session and the script interpreter. */
export interface MenuTree {
  /** True for a directory or menu: `/ip`, `/ip/address`. */
  hasPath(path: string): boolean;
  /** Commands of a menu (`add`, `print`, …) and of a directory (`/export`, `/execute`, `/ping` at the root). */
  commands(path: string): readonly string[];
  /** Names of the sub-directories of a path. */
  children(path: string): readonly string[];
  /** Parameter names a command knows, for "bad parameter" and "unknown parameter"; undefined when it takes any. */
  parameters(path: string, command: string): readonly string[] | undefined;
  /** Runs it. Throws {@link Trap} for every error RouterOS would report. */
  run(call: CommandCall): Promise<CommandResult>;
  /** All items of a menu as its detailed print shows them: what `find`, `get` and `where` work on. */
  items(session: Session, path: string): Row[];
  /** Brings a menu up to date whose items come from outside, before they are asked for. */
  observe(path: string): Promise<void>;
}

/** The script language, as the menus see it (`/execute`, `/system/script/run`, the scheduler). */
export interface ScriptEngine {
  /**
   * Parses and runs a source in the session. Output is what a terminal would show, lines separated by CRLF.
   * A syntax error runs nothing. `error` is the text of the error that ended the script, if one did.
   */
  run(source: string, session: Session, write: (text: string) => void): Promise<ScriptResult>;
}

export interface ScriptResult {
  error?: string;
  /** The error as a console prints it, where that differs: with the place behind it. */
  printed?: string;
  /** True when nothing ran because the source does not parse. */
  syntaxError?: boolean;
  /** Value of a top-level `:return`. */
  returned?: string;
}
