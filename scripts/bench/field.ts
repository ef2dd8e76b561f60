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

export interface Scenario {
  name: string;
  about: string;
  run: (field: Field) => Promise<Row[]>;
}
