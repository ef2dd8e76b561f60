/** The built web application, read from the disk. */
export interface ConsoleFiles {
  /** The folder of the build. */
  folder: string;
  /** `index.html`, with a placeholder where each answer has a nonce. */
  page: string;
  /** `terminal.html`: the document of a terminal, shown in a frame of the page. */
  terminal: string;
}
