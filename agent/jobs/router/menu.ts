import type { Deadline } from '../../routers/adapter.ts';

export interface NewEntry {
  name: string;
  everySeconds: number;
  /**
   * Where its intervals count from, in the router's spelling. One that every clock has behind it, also an unset one
   * (1970-01-02 after boot), keeps the next run nearer than the interval whatever happens to the clock.
   */
  startDate: string;
  /** Script source. */
  source: string;
  /** Rights it runs with; the router refuses more than its user has. */
  policy: string;
}

export interface SchedulerEntry {
  /** How often it has run since it was added. */
  runCount: number;
  /** When it runs next, in the router's spelling; empty for never. */
  nextRun: string;
  disabled: boolean;
}

/**
 * The few menus of a router that a job needs, the same over the API and over the console. All of it can be repeated
 * without harm. Errors are the adapter's.
 */
export interface RouterMenu {
  /** Source of a stored script, undefined when there is none of that name. */
  readScript(name: string, deadline: Deadline): Promise<string | undefined>;
  /** Stores a script, or gives the one of that name another source. */
  writeScript(name: string, source: string, deadline: Deadline): Promise<void>;
  removeScript(name: string, deadline: Deadline): Promise<void>;
  /** Whether the script is running now. */
  isRunning(name: string, deadline: Deadline): Promise<boolean>;
  /** Ends every run of the script. */
  stopScript(name: string, deadline: Deadline): Promise<void>;
  /** Adds a scheduler entry that runs every few seconds. */
  addEntry(entry: NewEntry, deadline: Deadline): Promise<void>;
  /** A scheduler entry, undefined when there is none of that name. */
  findEntry(name: string, deadline: Deadline): Promise<SchedulerEntry | undefined>;
  removeEntry(name: string, deadline: Deadline): Promise<void>;
  /** Names of all scheduler entries that contain the text. */
  listEntries(containing: string, deadline: Deadline): Promise<string[]>;
  /** Begins to write `<name>.backup`. */
  saveBackup(name: string, deadline: Deadline): Promise<void>;
  /** Begins to write `<name>.rsc`. */
  saveExport(name: string, deadline: Deadline): Promise<void>;
  /** Names of all files that contain the text. */
  listFiles(containing: string, deadline: Deadline): Promise<string[]>;
  removeFile(name: string, deadline: Deadline): Promise<void>;
  /** Size of a file in bytes, undefined when there is none of that name. */
  fileSize(name: string, deadline: Deadline): Promise<number | undefined>;
}
