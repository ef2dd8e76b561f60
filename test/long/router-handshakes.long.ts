import process from 'node:process';
import { describeHandshakes } from '../harness/handshakes/describe.ts';

/** Another one every day, the same one again with HANDSHAKE_SEED. Every byte of every handshake: twenty minutes or so. */
const SEED = Number(process.env['HANDSHAKE_SEED'] ?? Math.floor(Date.now() / 86_400_000));

describeHandshakes({ offsets: 'all', seed: SEED }, 3_600_000);
