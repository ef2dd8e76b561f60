import type { Deadline } from '../../routers/adapter.ts';

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
