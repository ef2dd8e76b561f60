import { describeHandshakes } from '../harness/handshakes/describe.ts';

/** A sample of what test/long/router-handshakes.long.ts does at every byte. */
describeHandshakes({ offsets: 27, seed: 1 }, 300_000);
