import { readFile } from 'node:fs/promises';

/** A secret of the operator. Read at every use, so that a new one works without a restart. */
export class SecretFile {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Without the line break at its end; undefined if the file cannot be read or is empty. */
  async read(): Promise<string | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => '');
    return text.trim() === '' ? undefined : text.trim();
  }
}
