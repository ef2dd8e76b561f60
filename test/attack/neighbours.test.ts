import { describeNeighbours } from '../harness/attack/neighbours.ts';

/**
 * Another test file keeps the other processor busy at the same time, so this finds whoever is starved or refused: that took
 * more than 6 s before there were shares. `test/long/neighbours.long.ts` holds the figure, with the machine to itself.
 */
describeNeighbours({ noiseMs: 2000 });
