/** The agent in one file, of the version of this control plane. */
export interface AgentRelease {
  version: string;
  /** Of the file, in hex. */
  sha256: string;
  bytes: number;
  file: Buffer;
}
