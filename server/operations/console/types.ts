/** The built web application on the disk; the documents as they are when they are asked for. */
export interface ConsoleFiles {
  /** The folder of the build. */
  readonly folder: string;
  /** `index.html`, with a placeholder where each answer has a nonce. */
  readonly page: string;
  /** `terminal.html`: the document of a terminal, shown in a frame of the page. */
  readonly terminal: string;
  /** `push-worker.js`: shows notifications in a browser, also while no page is open. */
  readonly pushWorker: string;
}
