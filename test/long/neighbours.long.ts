import { describeNeighbours } from '../harness/attack/neighbours.ts';

/** At most twice as long as at rest; a collection of garbage alone takes some 25 ms. */
describeNeighbours({ noiseMs: 25 });
