import type { Path } from './path.ts';
import type { Paths, ProductPath } from './paths.ts';
import type { Row } from './report.ts';
import type { Targets } from './targets.ts';

/** The paths that scenarios compare. */
export interface Field {
  targets: Targets;
  relay: Path;
  relayTls: Path;
  product: ProductPath;
  productTls: ProductPath;
  /** `ssh -R`, where sshd is installed. */
  ssh: Path | undefined;
  /** For parts that only one scenario needs. */
  paths: Paths;
  /** Length of one sample. */
  ms: number;
  rounds: number;
}

/** What the command line chose for all scenarios. */
export interface Choice {
  /** Sizes of fleets. */
  agents: readonly number[];
  databases: readonly ('sqlite' | 'postgres')[];
}

interface Named {
  name: string;
  about: string;
}

/** A scenario that compares paths, or one that brings everything itself. */
export type Scenario = Named & ({ run: (field: Field) => Promise<Row[]> } | { runAlone: (choice: Choice) => Promise<Row[]> });
